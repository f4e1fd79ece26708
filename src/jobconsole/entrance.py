"""Owns how one gets in, and out: where the token is found, the prompt, keeping it, the cover, another tenant. No token
is shown, logged, or put anywhere but where its person said.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jobconsole.commands.keymap import named
from jobconsole.places import resolve
from jobconsole.present.link import Link, LinkState
from jobconsole.screens.cover import CoverScreen
from jobconsole.screens.dialog import Ask
from jobconsole.screens.shell import SignedOut
from jobconsole.screens.sign_in import SignInScreen
from jobconsole.screens.start import StartScreen
from jobconsole.tokens import WITHOUT_KEYRING, Keyring, KeyringAway, Token

if TYPE_CHECKING:
    from jobconsole.app import Console
    from jobconsole.connection import Connection

CONNECTION = "jobconsole.connection:Connection"
"""Resolved after the first frame: it brings HTTP and the wire models with it."""
LONGEST_PAUSE = 15.0
FEED_PAUSE = 5.0
"""Seconds before the feed is begun anew after a failure of the console itself."""
NEW_TOKEN = "`jobservice token create` on the server shows a new one."  # noqa: S105  a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnedAway:
    """Signing in did not work: why and what to do. `passes`: the service is away, so the same token may do later."""

    sentence: str
    passes: bool = False


class Entrance:
    """Signing in and out of one console."""

    def __init__(self, console: Console, token: Token | None, keyring: Keyring, transport: Any) -> None:
        self._console = console
        self._token = token
        self._keyring = keyring
        self._transport = transport
        self._covered = False
        self._asking = False
        self._shown: Connection | None = None
        """Whose rows are on screen; stays when its token ends."""

    def start(self) -> None:
        """Begins, once the first frame is painted."""
        self._work(self._begin(), "Starting")

    async def _begin(self) -> None:
        """After the first frame: imports, then a token from the environment or the keyring, then the prompt."""
        await asyncio.to_thread(resolve, CONNECTION)
        gc.freeze()
        gc.enable()
        token, why = self._token, ""
        self._token = None
        if token is None:
            self._wait_for("Asking the keyring …")
            token, why = await self._from_keyring()
        if token is not None:
            turned = await self._enter_patiently(token)
            if turned is None:
                return
            why = turned.sentence
        await self._prompt(why)

    def ask(self) -> None:
        """`session.sign-in`: the prompt, again."""
        if not self._asking:
            self._work(self._prompt(""), "Signing in")

    def sign_out(self, sentence: str) -> None:
        """The token ended: stops asking the service, keeps what is shown, says what to do."""
        if self._console.connection is None:
            return
        self._retire()
        self._console.show_link(Link(state=LinkState.SIGNED_OUT))
        self._console.place_screen.say(f"{sentence} {self._key('session.sign-in')} signs in again.", error=True)

    def cover(self, why: str) -> None:
        """Hides everything, drops the token, and wants it from the person; `why` begins the sentence.

        Does nothing while nothing is shown: rows stay on screen after a token ended, and are covered like any others.
        """
        if self._covered or self._shown is None:
            return
        self._covered = True
        self._retire()
        if isinstance(self._console.screen, SignInScreen | Ask):
            self._console.screen.dismiss(None)  # its worker ends here, and nobody would hear its answer
        self._console.show_link(Link(state=LinkState.SIGNED_OUT))
        self._work(self._uncover(self._shown, why), "Uncovering")

    def switch(self, tenant: str | None) -> None:
        """Shows another tenant of the person."""
        console = self._console
        if tenant is None or console.connection is None:
            return
        console.connection.switch(tenant)
        console.actions.open_first()
        self._follow()

    def failed(self, error: BaseException, doing: str) -> None:
        """Says what failed while `doing`; a token that ended signs out."""
        screen = self._console.place_screen
        if isinstance(error, SignedOut):
            screen.say(f"{doing}: sign in first.", error=True)
            return
        failure = resolve("jobconsole.connection:explain")(error, doing)
        screen.say(failure.sentence, error=True)
        if failure.ended:
            self.sign_out(failure.sentence)

    async def _prompt(self, why: str) -> None:
        self._asking = True
        try:
            while True:
                self._console.show_link(Link(state=LinkState.SIGNED_OUT))
                token = await self._console.push_screen_wait(self._question(why))
                if token is None:
                    self._wait_for(
                        f"Nobody is signed in. {self._key('session.sign-in')} signs in, {self._key('console.quit')} leaves."
                    )
                    return
                self._wait_for(f"Connecting to {self._console.settings.url} …")
                turned = await self._enter(token)
                if turned is None:
                    await self._offer_to_keep(token)
                    return
                why = turned.sentence
        finally:
            self._asking = False

    def _question(self, why: str) -> SignInScreen:
        settings = self._console.settings
        return SignInScreen(
            profile=settings.profile,
            url=settings.url,
            sentence=why,
            keeping="It is masked, sent to this address alone, and never written to a plain file.",
            leave="goes back",
        )

    async def _uncover(self, before: Connection, why: str) -> None:
        why = f"{why} Your token was dropped: type it to go on. What is running in the service goes on."
        try:
            while True:
                settings = self._console.settings
                question = CoverScreen(profile=settings.profile, url=settings.url, sentence=why)
                token = await self._console.push_screen_wait(question)
                if token is None:
                    continue
                try:
                    turned = await self._enter(token, before=before)
                except Exception as error:  # a looper: whatever fails here must not lift the cover (MONEY.md 26)
                    failure = resolve("jobconsole.connection:explain")(error, "Uncovering")
                    turned = TurnedAway(sentence=failure.sentence)
                if turned is None:
                    return
                why = turned.sentence
        finally:
            self._covered = False

    async def _from_keyring(self) -> tuple[Token | None, str]:
        try:
            return await asyncio.to_thread(self._keyring.get), ""
        except KeyringAway as away:
            return None, f"{away} {WITHOUT_KEYRING}"

    async def _enter_patiently(self, token: Token) -> TurnedAway | None:
        """Signs in with a token that nobody typed; a service that is away is tried until it answers."""
        pause, leave = 1.0, self._key("console.quit")
        while True:
            self._wait_for(f"Connecting to {self._console.settings.url} …")
            turned = await self._enter(token)
            if turned is None or not turned.passes:
                return turned
            loop = asyncio.get_running_loop()
            end = loop.time() + pause
            while (left := end - loop.time()) > 0:
                self._wait_for(f"{turned.sentence} Trying again in {round(left)} s. {leave} leaves.")
                await asyncio.sleep(min(1.0, left))
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _enter(self, token: Token, *, before: Connection | None = None) -> TurnedAway | None:
        """Signs in; None when it worked."""
        console = self._console
        console.show_link(Link(state=LinkState.CONNECTING))
        wanted = before.role.tenant if before else console.settings.tenant
        try:
            connection: Connection = await resolve(CONNECTION).open(
                console.settings.url, token, tenant=wanted, post=console.post_message, transport=self._transport
            )
        except resolve("jobconsole.client.errors:ClientError") as error:
            kind = type(error).__name__
            console.show_link(Link(state=LinkState.SIGNED_OUT))
            more = f" {NEW_TOKEN}" if kind in {"SignInAgain", "ConnectionUnfit"} else ""
            return TurnedAway(sentence=f"{error.sentence}{more}", passes=kind == "ServiceAway")
        console.connection = self._shown = connection
        same = before is not None and _same(before, connection)
        if not same:
            console.actions.open_first()
        self._follow()
        if same:
            console.revision += 1
            console.place_screen.refresh_all()
        return None

    async def _offer_to_keep(self, token: Token) -> None:
        try:
            name = await asyncio.to_thread(self._keyring.name)
        except KeyringAway as away:
            self._console.place_screen.say(f"{away} The token is kept for this run only. {WITHOUT_KEYRING}")
            return
        lines = ("Kept there, the next start needs no prompt.", "Otherwise it lives in this run's memory only.")
        ask = Ask(title="Keep the token in your keyring?", act=f"Keep it in {name}", lines=lines)
        if not await self._console.push_screen_wait(ask):
            return
        try:
            await asyncio.to_thread(self._keyring.keep, token)
        except KeyringAway as away:
            self._console.place_screen.say(f"{away} The token is kept for this run only.", error=True)
        else:
            self._console.place_screen.say(f"The token is kept in {name}; `jobconsole logout` removes it.")

    def _follow(self) -> None:
        connection = self._console.connection
        if connection is not None:
            self._work(self._feed(connection), "Following live changes", group="feed")

    async def _feed(self, connection: Connection) -> None:
        """Follows the feed; should that itself fail, what is shown is marked stale and it is begun anew."""
        while True:
            try:
                await connection.follow()
                return
            except Exception as error:  # a looper: whatever fails here must not look like a live screen (TUI-07)
                now = connection.service.clock.server_now() or connection.session.now
                retry = connection.service.clock.monotonic() + FEED_PAUSE
                self._console.show_link(Link(state=LinkState.STALE, since=now, retry=retry))
                self.failed(error, "Following live changes")
            await asyncio.sleep(FEED_PAUSE)

    def _work(self, todo: Coroutine[Any, Any, None], doing: str, *, group: str = "entrance") -> None:
        self._console.run_worker(self._guarded(todo, doing), group=group, exclusive=True, exit_on_error=False)

    async def _guarded(self, todo: Coroutine[Any, Any, None], doing: str) -> None:
        try:
            await todo
        except Exception as error:  # outermost frame of a worker: a failure is a sentence, not the end (TUI-07)
            self._console.show_link(Link(state=LinkState.SIGNED_OUT))
            self.failed(error, doing)

    def _retire(self) -> None:
        """Lets go of the connection; calls that still run keep theirs, and it closes after them."""
        console, connection = self._console, self._console.connection
        if connection is None:
            return
        console.connection = None
        console.workers.cancel_group(console, "feed")
        console.run_worker(self._close(connection), group="retire", exit_on_error=False)

    async def _close(self, connection: Connection) -> None:
        running = [worker for worker in self._console.workers if worker.group in {"commands", "reload"}]
        await asyncio.gather(*(worker.wait() for worker in running), return_exceptions=True)
        await connection.close()

    def _key(self, command: str) -> str:
        return named(self._console.keymap, command)

    def _wait_for(self, sentence: str) -> None:
        screen = self._console.place_screen
        if isinstance(screen, StartScreen):
            screen.wait_for(sentence)


def _same(before: Connection, after: Connection) -> bool:
    return (before.session.person.id, before.role.tenant) == (after.session.person.id, after.role.tenant)
