"""Schemathesis's side of `npm run test:api`: ids of things that are there, and the check that nothing leaks."""

import collections
import json
import os
import urllib.request

import schemathesis
from hypothesis import strategies
from schemathesis import GenerationMode

LADDER = ["none", "read", "operate", "admin"]
WORLD = json.loads(os.environ["HOODCLOUD_API_WORLD"])
CALLER = os.environ["HOODCLOUD_API_CALLER"]
RESTORE = os.environ["HOODCLOUD_API_RESTORE"]
CALLS = collections.Counter()

schemathesis.openapi.format("time-zone", strategies.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]))


def is_granted(needed):
    """As `includesScope` of contracts/http/scopes.ts: `override` stands beside the ladder and lets its holder look."""
    if CALLER == "override" or needed == "override":
        return CALLER == "override" and needed in ("read", "override")
    return LADDER.index(CALLER) >= LADDER.index(needed)


@schemathesis.hook
def before_call(context, case, kwargs=None):
    """A random id is never there, so four of five valid requests ask for one that is, in a state that the operation needs."""
    operation = case.operation.definition.raw.get("operationId")
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    CALLS[operation] += 1
    if CALLS[operation] % 5 == 0:
        return
    urllib.request.urlopen(RESTORE, data=b"").close()
    case.headers.pop("if-match", None)  # what is made up matches nothing
    case.query.pop("cursor", None)  # and is no place in a list
    pool = WORLD["pools"].get(operation)
    if pool:
        case.path_parameters = dict(pool[CALLS[operation] % len(pool)])


@schemathesis.check
def refuses_what_is_not_granted(ctx, response, case):
    """Who has none or a weaker scope learns nothing but that."""
    needed = case.operation.definition.raw.get("x-scope")
    if needed is None or is_granted(needed):
        return
    if response.request.method != case.operation.method.upper():
        return  # a method that the document does not name
    expected = [401] if CALLER == "none" else [401, 403]  # 401: the tester has made up other credentials
    assert response.status_code in expected, f"{CALLER} got {response.status_code} where {needed} is needed"
    body = response.json()
    assert set(body) <= {"type", "title", "status", "detail", "code", "instance", "details"}, f"it says more: {body}"


@schemathesis.check
def tells_no_secret(ctx, response, case):
    """No answer holds what the world keeps secret."""
    for secret in WORLD["secrets"]:
        assert secret not in response.text, "an answer holds a planted secret"
