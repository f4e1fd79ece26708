"""The client floor: HTTP to the job service and nothing else. One small module a noun; values are the contract's.

Never touches a screen or a terminal; a screen and its headless twin call the same function of this floor.
"""
