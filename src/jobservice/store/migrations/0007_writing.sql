-- What writing the fifty thousand rows of a plan costs (`docs/benchmarks.md`). Runs as the owner.

-- Nothing reads items by payee or by account: what was paid before is found in jobs.releases. Each claim, score and
-- hold wrote an entry of both anew, scattered over the whole of them.
drop index jobs.items_payees;
drop index jobs.items_accounts;

-- What is odd about a row stands on the row.
drop index jobs.plan_warnings_item;

-- A row of a plan is written, and then twice more with no column of any index changed: what is odd about it, and the
-- fence of the hold. Where its page has room for that, no index gets another entry.
alter table jobs.plan_items set (fillfactor = 45);
