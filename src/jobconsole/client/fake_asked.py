"""Owns one request to the fake service, understood: who asks, for what. Knows its people; answers nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import httpx
from pydantic import BaseModel

from jobconsole.client.fake_listing import Asked as ListingAsked
from jobcontract.session import Person
from jobcontract.states import ItemView, Role

TENANT = "leeds"
PEOPLE: Mapping[str, tuple[str, Role]] = {
    "m.ito": ("Mika Ito", Role.FINANCE),
    "k.rao": ("Kiran Rao", Role.FINANCE),
    "o.lind": ("Olle Lind", Role.OPERATOR),
    "a.nagy": ("Anna Nagy", Role.AUDITOR),
    "i.feed": ("Invoice feed", Role.PUSHER),
    "s.bell": ("Sue Bell", Role.SUPPORT),
}


class Asked:
    """One request, understood: who asks, the parts of its path, its query and body."""

    def __init__(self, request: httpx.Request, person: str, parts: Mapping[str, str]) -> None:
        self.request = request
        self.person = Person(id=person, name=PEOPLE[person][0])
        self.role = PEOPLE[person][1]
        self.parts = parts
        self.query = dict(request.url.params)

    def limit(self) -> int:
        """Most rows of the page."""
        return int(self.query.get("limit", "100"))

    def listing(self, filter_text: str | None = None) -> ListingAsked:
        """What of a queue is asked for; `filter_text` where the body says it."""
        return ListingAsked(
            person=self.person,
            queue=self.parts["queue"],
            view=ItemView(self.query.get("view", "waiting")),
            filter=self.query.get("filter", "") if filter_text is None else filter_text,
            limit=self.limit(),
        )

    def reason(self) -> dict[str, str]:
        """Why, where the order says it: what the trail keeps with it."""
        if b'"reason"' not in self.request.content:
            return {}
        found = json.loads(self.request.content).get("reason")
        return {"reason": found} if isinstance(found, str) else {}

    def same_body(self) -> bytes:
        """What of the body tells whether two requests with one key are the same: all but the code (MONEY.md 32)."""
        body = self.request.content
        if b'"code"' not in body:
            return body
        members = json.loads(body)
        members.pop("code", None)
        return json.dumps(members, sort_keys=True).encode()


Handler = Callable[[Asked], BaseModel]
