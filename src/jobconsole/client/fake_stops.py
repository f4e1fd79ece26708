"""Owns the stops of the fake service: what is held still, and lifting it. A stop of all work throws the switch of money
as well; lifting it leaves money stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from jobconsole.client.fake_asked import TENANT, Asked, Handler
from jobconsole.client.fake_bulk import FakeBulk
from jobconsole.client.fake_job_kinds import KINDS
from jobconsole.client.fake_queues import FakeQueues
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.events import Topic
from jobcontract.operating import StopScope
from jobcontract.permissions import GRANTS, Permission, missing
from jobcontract.plans import StopMoney
from jobcontract.queues import Queue
from jobcontract.session import Person
from jobcontract.states import Moves
from jobcontract.stops import LiftOrder, Stop, StopOrder, Stops, StopsChanged


class FakeStops:
    """The stops of one tenant. `publish` hears of each change."""

    def __init__(
        self,
        now: Callable[[], datetime],
        queues: FakeQueues,
        bulk: FakeBulk,
        publish: Callable[[Topic, str, str, int], None],
    ) -> None:
        self._now = now
        self._queues = queues
        self._bulk = bulk
        self._publish = publish
        self._version = 0
        self.stops: dict[tuple[StopScope, str], Stop] = {}
        bulk.refuse_held = self.judge_plan

    def handlers(self) -> Mapping[str, Handler]:
        """The routes of stops."""
        return {
            "stops": lambda _: Stops(stops=self.listed(), now=self._now()),
            "stop-work": self._stop,
            "lift-stop": self._lift,
        }

    def listed(self) -> tuple[Stop, ...]:
        """Every stop in force, the latest first."""
        return tuple(sorted(self.stops.values(), key=lambda each: each.at, reverse=True))

    @property
    def all_work(self) -> Stop | None:
        """The stop of all work of the tenant, where it is in force."""
        return self.stops.get((StopScope.TENANT, TENANT))

    def put(self, scope: StopScope, name: str, person: Person, reason: str) -> Stop:
        """Hold something still; where it is held already, what stands stays. Refusal NOT_FOUND."""
        title, by_code = self._named(scope, name)
        known = self.stops.get((scope, name))
        if known is not None:
            return known
        self._version += 1
        stop = Stop(
            scope=scope,
            name=name,
            title=title,
            at=self._now(),
            by=person,
            reason=reason,
            lifted_by_code=by_code,
            version=self._version,
        )
        self.stops[scope, name] = stop
        if scope is StopScope.TENANT:
            self._bulk.money.throw(person, StopMoney(reason=reason))
        self._publish(Topic.STOPS, "stops", "stops", self._version)
        return stop

    def shown(self, queue: Queue) -> Queue:
        """The queue with who stopped it."""
        stop = self._of(queue.id)
        if stop is None:
            return queue
        held = "All work stopped" if stop.scope is StopScope.TENANT else "Stopped"
        words = f"{held} by {stop.by.name} since {stop.at:%Y-%m-%d %H:%M} UTC: {stop.reason.rstrip('.')}."
        return queue.model_copy(update={"stopped": words})

    def judge(self, queue: str) -> None:
        """Refusal WORK_STOPPED where nothing of the queue is claimed or acted on."""
        stop = self._of(queue)
        if stop is not None:
            raise Refusal(ErrorCode.WORK_STOPPED, _sentence(stop))

    def holds_kind(self, kind: str) -> bool:
        """Whether no step of a job of that kind is begun."""
        return self.all_work is not None or (StopScope.JOB_KIND, kind) in self.stops

    def judge_plan(self, queue: str, command: str) -> None:
        """Refusal WORK_STOPPED where no plan of the command goes on."""
        self.judge(queue)
        if (stop := self.stops.get((StopScope.BULK_COMMAND, command))) is not None:
            raise Refusal(ErrorCode.WORK_STOPPED, _sentence(stop))

    def _of(self, queue: str) -> Stop | None:
        return self.all_work or self.stops.get((StopScope.QUEUE, queue))

    def _named(self, scope: StopScope, name: str) -> tuple[str, bool]:
        """Title, and whether lifting takes a code."""
        if scope is StopScope.TENANT and name == TENANT:
            return "All work", False
        if scope is StopScope.JOB_KIND and name in KINDS and name != "service.plan-apply":
            return KINDS[name].wire.label, KINDS[name].wire.moves is Moves.MONEY
        for queue in self._queues.queues:
            if scope is StopScope.QUEUE and queue.id == name:
                return queue.title, False
            for command in queue.bulk:
                if scope is StopScope.BULK_COMMAND and command.id == name:
                    return command.title, command.confirm_by is not None
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no {scope.value} {name[:80]} that you may stop.")

    def _stop(self, asked: Asked) -> StopsChanged:
        order = StopOrder.model_validate_json(asked.request.content)
        self.put(order.scope, order.name, asked.person, order.reason)
        return StopsChanged(stops=self.listed(), now=self._now())

    def _lift(self, asked: Asked) -> StopsChanged:
        order = LiftOrder.model_validate_json(asked.request.content)
        stop = self.stops.get((order.scope, order.name))
        if stop is not None:
            if stop.lifted_by_code:
                self._judge_code(asked, stop, order)
            del self.stops[order.scope, order.name]
            self._version += 1
            self._publish(Topic.STOPS, "stops", "stops", self._version)
        return StopsChanged(stops=self.listed(), now=self._now())

    def _judge_code(self, asked: Asked, stop: Stop, order: LiftOrder) -> None:
        if Permission.PAYOUT_RELEASE not in GRANTS[asked.role]:
            sentence = missing(Permission.PAYOUT_RELEASE, TENANT)
            raise Refusal(ErrorCode.PERMISSION_MISSING, sentence, permission=Permission.PAYOUT_RELEASE)
        if stop.by == asked.person:
            raise Refusal(ErrorCode.PERMISSION_MISSING, "You stopped it: another person lifts it.")
        if order.code is None:
            words = f"{_sentence(stop)} It moves money: send the order again with a code."
            raise Refusal(ErrorCode.WORK_STOPPED, words)
        verdict = self._bulk.codes.judge(asked.person.id, order.code.get_secret_value())
        if verdict is not None:
            raise verdict


def _sentence(stop: Stop) -> str:
    """Who stopped what, when and why."""
    kinds = {
        StopScope.QUEUE: "Queue",
        StopScope.BULK_COMMAND: "Bulk command",
        StopScope.JOB_KIND: "Kind of job",
        StopScope.TENANT: "All work of",
    }
    at = f"{stop.at:%Y-%m-%d %H:%M:%S} UTC"
    return f"{kinds[stop.scope]} {stop.name} is stopped since {at}, by {stop.by.name}: {stop.reason.rstrip('.')}."
