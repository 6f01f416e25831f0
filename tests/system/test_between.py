# SPDX-License-Identifier: MIT
"""What happens to a run between its slots: people who decide, cancel and retry meanwhile, sources that fail, and deaths."""
import pytest
from rld import RpcError
from trees import trees  # noqa: F401


# ---- retry -----------------------------------------------------------------------------------------------------

def test_retry_of_a_cancelled_run_whose_task_has_passed(trees):
    """The cancel came while its work tree was removed: there is nothing to do again."""
    t = trees()
    number, _ = t.submit_to("after-pin", task="do it", review=True, integrate="merge")
    t.stop_at("clear")
    t.play.go("after-pin")
    t.play.arrived("clear")
    t.daemon.call("run.cancel", id=number)
    t.play.go("clear")
    row = t.daemon.ended(number)
    assert (row["state"], row["tasks"][0]["state"]) == ("cancelled", "passed"), row
    with pytest.raises(RpcError) as error:
        t.daemon.call("run.retry", id=number)
    assert error.value.code == 2 and "passed" in error.value.message, error.value
