"""Privileges: the roles that may do something with an object. All checks ask here."""

from enum import StrEnum

from headrace.web.access.users import User


class Kind(StrEnum):
    """Kind of object."""

    JOB = "job"
    RESULT = "result"
    UPLOAD = "upload"
    WORKSHEET = "worksheet"
    RULES = "monitor rules"
    AGENT = "monitor agent"


class Action(StrEnum):
    """Something that a user does with an object."""

    READ = "read"
    CREATE = "create"
    CHANGE = "change"
    REMOVE = "remove"


class Role(StrEnum):
    """Relation of a user to an object."""

    USER = "any user"
    OWNER = "its owner"
    OPERATOR = "an operator"


EVERYONE = frozenset({Role.USER, Role.OWNER, Role.OPERATOR})
OWNER = frozenset({Role.OWNER})
OWNER_OR_OPERATOR = frozenset({Role.OWNER, Role.OPERATOR})
OPERATOR = frozenset({Role.OPERATOR})

PRIVILEGES: dict[tuple[Kind, Action], frozenset[Role]] = {
    (Kind.JOB, Action.READ): EVERYONE,
    (Kind.JOB, Action.CREATE): EVERYONE,
    (Kind.JOB, Action.CHANGE): OWNER_OR_OPERATOR,
    (Kind.JOB, Action.REMOVE): OWNER_OR_OPERATOR,
    (Kind.RESULT, Action.READ): EVERYONE,
    (Kind.RESULT, Action.CREATE): EVERYONE,
    (Kind.RESULT, Action.CHANGE): OWNER_OR_OPERATOR,
    (Kind.RESULT, Action.REMOVE): OWNER_OR_OPERATOR,
    (Kind.UPLOAD, Action.READ): OWNER,
    (Kind.UPLOAD, Action.CREATE): EVERYONE,
    (Kind.UPLOAD, Action.REMOVE): OWNER,
    (Kind.WORKSHEET, Action.READ): OWNER,
    (Kind.WORKSHEET, Action.CREATE): EVERYONE,
    (Kind.WORKSHEET, Action.CHANGE): OWNER,
    (Kind.WORKSHEET, Action.REMOVE): OWNER,
    (Kind.RULES, Action.READ): EVERYONE,
    (Kind.RULES, Action.CHANGE): OPERATOR,
    (Kind.AGENT, Action.READ): EVERYONE,
    (Kind.AGENT, Action.CREATE): OPERATOR,
    (Kind.AGENT, Action.REMOVE): OPERATOR,
}
"""Roles of which one is enough, for each object and action. Without login there is one user, who is
an operator and owns everything."""


class NotAllowed(Exception):
    """A user may not do something. The text is for the user."""


def is_allowed(user: User, action: Action, kind: Kind, owner: str | None = None) -> bool:
    """Return whether a user may do something with an object of this owner, if it has one."""
    roles = {Role.USER}
    if owner is not None and user.name == owner:
        roles.add(Role.OWNER)
    if user.operator:
        roles.add(Role.OPERATOR)
    return bool(roles & PRIVILEGES[kind, action])


def require(user: User, action: Action, kind: Kind, owner: str | None = None) -> None:
    """Raise NotAllowed if a user may not do something."""
    if is_allowed(user, action, kind, owner):
        return
    owned = f" of {owner}" if owner is not None else ""
    roles = " or ".join(sorted(PRIVILEGES[kind, action], reverse=True))
    raise NotAllowed(f"only {roles} may {action} the {kind}{owned}")
