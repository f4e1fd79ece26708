"""Owns the form of bulk-command records: what is run on many items at once, how it is confirmed, what bounds it.

Amounts, counts and waits stand in setting records, which this one names; what the records say of one another is
compared elsewhere (`bulk_fit.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jobcontract.ids import NAME_MAX
from jobcontract.money import AMOUNT_MAX
from jobcontract.states import ConfirmMethod
from jobservice.records.forms import Form
from jobservice.records.kind import Kind, Reference
from jobservice.rules.settings import SettingDeclaration, SettingType

COUNT_MOST = 1_000_000
WAIT_MOST = 86_400
"""Seconds."""
FREE_MOST = 1_000
"""Most single releases a day without a code."""


def _amounts(role: str, purpose: str) -> SettingDeclaration:
    return SettingDeclaration(id=role, type=SettingType.AMOUNTS, least=0, most=AMOUNT_MAX, purpose=purpose)


def _count(role: str, purpose: str, *, least: int = 1, most: int = COUNT_MOST) -> SettingDeclaration:
    return SettingDeclaration(id=role, type=SettingType.COUNT, least=least, most=most, purpose=purpose)


_DECLARATIONS = (
    _amounts("limits.item", "the largest item of a plan"),
    _amounts("limits.plan", "what one plan sends out"),
    _amounts("limits.person", "what one person sends out in 24 hours"),
    _amounts("limits.account", "what goes to one account in 24 hours"),
    _count("limits.personCount", "items that one person sends out in 24 hours"),
    _count("limits.accountCount", "items that go to one account in 24 hours"),
    _amounts("armed.above", "from which gross on a confirmed plan waits"),
    SettingDeclaration(
        id="armed.wait", type=SettingType.DURATION, least=1, most=WAIT_MOST, purpose="how long a confirmed plan waits"
    ),
    _amounts("answers.above", "from which amount on warnings must be answered"),
    _count("singles.count", "single releases of one person in 24 hours without a code", least=0, most=FREE_MOST),
    _amounts("singles.gross", "what one person releases singly in 24 hours without a code"),
)
ROLES: Mapping[str, SettingDeclaration] = {declaration.id: declaration for declaration in _DECLARATIONS}
"""What a setting has to be, by the field that names it."""
_NEEDED = "limits"
_OPTIONAL = ("armed", "answers", "singles")


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkRecord:
    """A bulk-command record as written; `settings` by the role in which it names them."""

    title: str
    queue: Reference
    use_case: Reference
    preview: bool
    preview_line: int | None
    """None where the record does not say."""
    confirm_by: ConfirmMethod | None
    uncertain: Reference
    settings: Mapping[str, Reference]
    submits: Reference | None
    """The kind of job that each confirmed plan submits when it ends."""


def _read(form: Form, _identifier: str) -> BulkRecord | None:
    title = form.text("title", most=NAME_MAX)
    queue, use_case = _reference(form, "queue"), _reference(form, "useCase")
    preview = form.boolean("preview") if form.node("preview", required=False) is not None else False
    confirm_by, confirmed = _confirm_by(form)
    settings = _settings(form)
    uncertain = _reference(form, "uncertain")
    submits = form.slug("submits", required=False)
    form.finish()
    if title is None or queue is None or use_case is None or preview is None or not confirmed:
        return None
    if settings is None or uncertain is None or (submits is None and "submits" in form):
        return None
    return BulkRecord(
        title=title,
        queue=queue,
        use_case=use_case,
        preview=preview,
        preview_line=form.line_of("preview") if "preview" in form else None,
        confirm_by=confirm_by,
        uncertain=uncertain,
        settings=settings,
        submits=None if submits is None else Reference(id=submits, line=form.line_of("submits")),
    )


def _confirm_by(form: Form) -> tuple[ConfirmMethod | None, bool]:
    """The method, None where the record says none; and whether it could be read."""
    if "confirmBy" not in form:
        form.node("confirmBy", required=False)
        return None, True
    confirm = form.form("confirmBy")
    if confirm is None:
        return None, False
    method = confirm.choice("method", ConfirmMethod)
    confirm.finish()
    return method, method is not None


def _settings(form: Form) -> Mapping[str, Reference] | None:
    """Every setting that is named, by its role; None after a finding."""
    named: dict[str, Reference | None] = {}
    for group in (_NEEDED, *_OPTIONAL):
        needed = group == _NEEDED
        fields = form.form(group, required=needed)
        if fields is not None:
            named.update(_group(fields, group))
        elif needed or group in form:
            named[group] = None
    found = {role: reference for role, reference in named.items() if reference is not None}
    return found if len(found) == len(named) else None


def _group(fields: Form, group: str) -> Iterator[tuple[str, Reference | None]]:
    for role in ROLES:
        if role.startswith(f"{group}."):
            yield role, _reference(fields, role.removeprefix(f"{group}."))
    fields.finish()


def _reference(form: Form, name: str) -> Reference | None:
    identifier = form.slug(name)
    return None if identifier is None else Reference(id=identifier, line=form.line_of(name))


BULK_COMMAND = Kind(word="bulk-command", read=_read)
