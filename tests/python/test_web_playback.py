"""A simulation that runs as a job leaves frames in its directory."""

from conftest import SMALL
from headrace.simulate import load_playback
from web_site import RunningSite


def test_a_simulation_of_the_server_can_be_played(site: RunningSite) -> None:
    job = site.submit("run", inputs={"s.toml": SMALL}, file="input:s.toml")
    assert site.ended(job)["state"] == "done"
    playback = load_playback(site.data / "jobs" / job / "playback.parquet")
    assert len(playback.time_s) >= 200


def test_a_request_names_no_file_for_frames(site: RunningSite) -> None:
    values = {"file": "input:s.toml", "playback": "/tmp/frames.parquet"}
    request = {"command": ["run"], "values": values, "inputs": {"s.toml": SMALL}}
    answer = site.post("/api/jobs", json=request)
    assert answer.status_code == 422
    assert "playback" in answer.text
