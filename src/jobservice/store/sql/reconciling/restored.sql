-- Whether money last moved in another database than this.
select jobs.restored() as restored
