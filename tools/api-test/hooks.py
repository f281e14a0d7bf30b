"""Schemathesis's side of `npm run test:api`: ids of things that are there, and the check that nothing leaks."""

import json
import os
import random

import schemathesis
from schemathesis import GenerationMode

RANKS = ["none", "read", "operate", "admin"]
WORLD = json.loads(os.environ["HOODCLOUD_API_WORLD"])
CALLER = os.environ["HOODCLOUD_API_CALLER"]


@schemathesis.hook
def before_call(context, case, kwargs=None):
    """A random id is never there, so a valid request mostly asks for one that is, in a state that the operation needs."""
    pool = WORLD["pools"].get(case.operation.definition.raw.get("operationId"))
    meta = case.meta
    positive = meta is not None and meta.generation.mode == GenerationMode.POSITIVE
    if pool and positive and random.random() < 0.8:
        case.path_parameters = dict(random.choice(pool))


@schemathesis.check
def refuses_what_is_not_granted(ctx, response, case):
    """Who has none or a weaker scope learns nothing but that."""
    needed = case.operation.definition.raw.get("x-scope")
    if needed is None or RANKS.index(CALLER) >= RANKS.index(needed):
        return
    expected = 401 if CALLER == "none" else 403
    assert response.status_code == expected, f"{CALLER} got {response.status_code} where {needed} is needed"
    body = response.json()
    assert set(body) <= {"type", "title", "status", "detail", "code", "instance", "details"}, f"it says more: {body}"


@schemathesis.check
def tells_no_secret(ctx, response, case):
    """No answer holds what the world keeps secret."""
    for secret in WORLD["secrets"]:
        assert secret not in response.text, "an answer holds a planted secret"
