"""Spoken commands end to end: what is done, of every family, when a voice says it. Nothing acts on the desktop.

    python tests/bench/spoken_commands.py [--texts FILE …] [--voices NAMES] [--noise RMS]
                                           [--unexpecting] [--keep FILE] [--again FILE]
                                           [--ordinary FILE [--every N]]

Each sentence is spoken by each voice into a faint room noise and goes the way that speech goes in the app: the gate
cuts utterances, the engine hears them in live chunks, told what to expect, and the grammar and the policy decide in
command mode, by the text and by what else it may have been. As in the app, a complete command shortens the wait for
silence. Prints how many were

    right     the command that was said, with what was said in it, done or asked about
    words     the command, but with other free words in it (text, query, reminder)
    asked     nothing was done, and another command than that was asked about
    offered   nothing was done, and the command that was meant was offered first
    nothing   nothing was done, or only refused: no such application
    wrong     something else would have been done

by family and voice, and the confusion list. ``--keep`` saves what was heard, and ``--again`` decides on that anew
without hearing it: to see what a change of the grammar does. ``--ordinary`` speaks sentences that are no commands, and
counts how many of them would have done something all the same.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from running_engine import EngineProcess
from speech import DATA, RATE, Samples, pcm16, say

from sayso.app.actions import ActionError, Performer
from sayso.app.actions.base import Done, Job
from sayso.app.actions.desktop.none import NO_DISPLAY, Refusing
from sayso.app.actions.typing import Typist
from sayso.app.actions.undo import UndoLog
from sayso.app.audio.gate import Ended, Started, Voiced
from sayso.app.audio.pipeline import Pipeline
from sayso.app.commander import Commander
from sayso.app.commands.grammar import Grammar
from sayso.app.commands.matching import Match, match
from sayso.app.commands.names import Found, Named, Names, resolve
from sayso.app.commands.other_text import OtherText
from sayso.app.commands.policy import Confirm, Decision, Ignore, Run, decide
from sayso.app.commands.weighing import weigh
from sayso.app.snapshot import Mode
from sayso.engine import messages as m

TEXTS = (DATA / "commands" / "spoken.txt", DATA / "commands" / "spoken_apart.txt")
VOICES = "hibari,american"
NOISE_RMS = 3e-4
BEFORE_S, AFTER_S = 0.8, 1.2
BLOCK = 512
"""Samples that the sound system hands over at once: 32 ms."""
ASKED_EVERY = 4
"""Blocks after which the text is looked at: 128 ms, when the engine decodes every 320 ms."""
FREE = frozenset({"text", "query", "reminder"})
APPLICATIONS = tuple(
    Named(names[0], names[0], names)
    for names in (
        ("Firefox", "Web Browser"),
        ("Files", "File Manager"),
        ("Terminal",),
        ("Text Editor",),
        ("Calculator",),
        ("Calendar",),
        ("Settings",),
        ("LibreOffice Writer", "Word Processor"),
        ("Thunderbird", "Mail Client"),
        ("Rhythmbox", "Music Player"),
    )
)


Other = tuple[str, float] | tuple[str, float, float | None]


class Outcome(StrEnum):
    RIGHT = "right"
    WORDS = "words"
    ASKED = "asked"
    OFFERED = "offered"
    NOTHING = "nothing"
    WRONG = "wrong"


@dataclass(frozen=True)
class Heard:
    """A sentence that was spoken, and the utterances that came of it."""

    intent: str
    said: str
    voice: str
    texts: tuple[str, ...] = ()
    others: tuple[tuple[Other, ...], ...] = ()
    """What each utterance may have been instead: text, how far behind, and by language; empty where it was not told."""

    @classmethod
    def kept(cls, record: dict[str, Any]) -> Heard:
        """From JSON."""
        others = tuple(tuple((*other,) for other in each) for each in record.get("others", ()))
        return cls(**record | {"texts": tuple(record["texts"]), "others": others})


@dataclass(frozen=True)
class Judged:
    heard: Heard
    outcome: Outcome
    got: str
    """The command that would have been run, or offered; empty for none."""


# Counting: pure.


def sentences(file: Path) -> Iterator[tuple[str, str]]:
    """Intent and sentence of each line below an ``[intent]``."""
    intent = ""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            intent = line.strip("[] ")
        elif line.strip() and not line.startswith("#"):
            yield intent, line.strip()


def decided(heard: Heard, grammar: Grammar, names: Names) -> list[Decision]:
    """What the app would have made of each utterance."""
    return [
        decide(weigh(grammar, text, [OtherText(*each) for each in others], names), Mode.COMMANDS, heard=text)
        for text, others in zip(heard.texts, heard.others or itertools.repeat(()), strict=False)
    ]


def ordinary_table(known: Sequence[Heard], grammar: Grammar, names: Names) -> str:
    """How many ordinary sentences would have done something, or been asked about, by voice; and which."""
    rows = []
    for voice in dict.fromkeys(each.voice for each in known):
        spoken = [each for each in known if each.voice == voice]
        acts = {each: decided(each, grammar, names) for each in spoken}
        done = {each: [one.match for one in made if isinstance(one, Run)] for each, made in acts.items()}
        there = {each: [one for one in made if _is_there(one)] for each, made in done.items()}
        asked = sum(any(isinstance(one, Confirm) for one in made) for made in acts.values())
        counts = f"{len(spoken)} spoken, {sum(map(bool, there.values()))} done, {asked} asked about"
        rows.append(f"{voice}: {counts}")
        rows += [f"  {each.said!r} → {each.texts} → {[m.intent for m in made]}" for each, made in there.items() if made]
    return "\n".join(rows)


def judge(heard: Heard, grammar: Grammar, names: Names) -> Judged:
    """What the app would have done with what was heard, against what was said."""
    meant = match(grammar, heard.said, names)
    if not isinstance(meant, Match) or meant.intent != heard.intent:
        raise SystemExit(f"“{heard.said}” is not how {heard.intent} is said.")
    decisions = decided(heard, grammar, names)
    understood = [each.match for each in decisions if isinstance(each, Run | Confirm)]
    run = [each for each in understood if _is_there(each)]
    if not run:
        offers = [each.suggestions[0] for each in decisions if isinstance(each, Ignore) and each.suggestions]
        offered = bool(offers) and offers[-1] == meant.command.say
        refused = [f"no {each.slots['application']!r} here" for each in understood]
        return Judged(heard, Outcome.OFFERED if offered else Outcome.NOTHING, ", ".join(offers + refused))
    got = ", ".join(f"{each.intent} {each.slots or ''}".strip() for each in run)
    outcome = _compare(meant, run)
    if outcome is Outcome.WRONG and all(isinstance(each, Confirm) for each in decisions):
        return Judged(heard, Outcome.ASKED, f"{got}?")
    return Judged(heard, outcome, got)


def _is_there(found: Match) -> bool:
    """Whether what it names can be acted on; else it is refused with a message."""
    name = found.slots.get("application")
    return name is None or isinstance(resolve(name, APPLICATIONS), Found)


def _compare(meant: Match, run: Sequence[Match]) -> Outcome:
    if len(run) > 1 or run[0].intent != meant.intent:
        return Outcome.WRONG
    if _values(run[0]) == _values(meant):
        return Outcome.RIGHT
    free = FREE & meant.slots.keys()
    without = [{name: value for name, value in _values(each).items() if name not in free} for each in (meant, run[0])]
    return Outcome.WORDS if free and without[0] == without[1] else Outcome.WRONG


def _values(found: Match) -> dict[str, str]:
    """Slots as what they stand for: an application by its name, free words without marks."""
    values = {}
    for name, value in found.slots.items():
        values[name] = "".join(letter for letter in value.casefold() if letter.isalnum() or letter in " +").strip()
        if name == "application":
            thing = resolve(value, APPLICATIONS)
            values[name] = thing.named.title if isinstance(thing, Found) else value
    return values


def table(judged: Iterable[Judged]) -> str:
    """Counts by family and voice, with sums."""
    counts: dict[tuple[str, str], Counter[Outcome]] = {}
    for each in judged:
        for family in (each.heard.intent.partition(".")[0], "all"):
            counts.setdefault((family, each.heard.voice), Counter())[each.outcome] += 1
    rows = [f"{'':16}{'voice':15}" + "".join(f"{each:>9}" for each in Outcome)]
    for (family, voice), count in sorted(counts.items(), key=lambda item: (item[0][0] == "all", item[0])):
        rows.append(f"{family:16}{voice:15}" + "".join(f"{count[each]:>9}" for each in Outcome))
    return "\n".join(rows)


def confusions(judged: Iterable[Judged]) -> str:
    """All that was not right: said, heard, what came of it."""
    rows = [
        f"{each.outcome:8} {each.heard.voice:10} {each.heard.said!r} → {' | '.join(each.heard.texts)!r}"
        + (f" → {each.got}" if each.got else "")
        for each in sorted(judged, key=lambda each: (each.outcome, each.heard.intent, each.heard.said))
        if each.outcome is not Outcome.RIGHT
    ]
    return "\n".join(rows)


# Hearing: the real gate and the real engine.


class Ear:
    """The way of speech from the microphone's blocks to the texts of utterances, at the engine's pace."""

    def __init__(self, engine: EngineProcess, commander: Commander, *, expecting: bool) -> None:
        self._engine = engine
        self._commander = commander
        self._wishes: dict[str, Any] = {"alternatives": True, "bias": commander.expected}
        self._wishes["expected"] = commander.grammar.expected if expecting else ()
        self._turns = 0
        self._pings = 0
        engine.load()

    def hear(self, samples: Samples) -> list[m.Text]:
        """All utterances in these samples as one text each, in order."""
        pipeline, texts, session = Pipeline(RATE, 1), [], ""
        for at in range(0, len(samples), BLOCK):
            _, events = pipeline.feed(samples[at : at + BLOCK].reshape(-1, 1))
            for event in events:
                match event:
                    case Started():
                        session = self._begin()
                    case Voiced(voiced):
                        self._engine.send(m.Audio(session, 0, pcm16(voiced)))
                    case Ended():
                        texts.append(self._end(session))
                        session = ""
            if session and at // BLOCK % ASKED_EVERY == 0 and self._is_complete(session):
                pipeline.expedite()
        if session:
            texts.append(self._end(session))
        return texts

    def _begin(self) -> str:
        self._turns += 1
        session = f"turn {self._turns}"
        self._engine.open(session, partials=True, words=True, **self._wishes)
        return session

    def _end(self, session: str) -> m.Text:
        """The turn as one piece; its alternatives are those of its only piece, as the server has it."""
        self._engine.flush(session, 1)
        pieces = [each for each in self._engine.of(session, m.Text) if isinstance(each, m.Text) and each.stable]
        others = pieces[-1].alternatives if len(pieces) == 1 else ()
        self._engine.send(m.Close(session))
        self._engine.received.clear()  # Else every wait would look through all that was ever heard.
        return m.Text(session, 0, "".join(each.piece for each in pieces).strip(), True, 0, 0, alternatives=others)

    def _is_complete(self, session: str) -> bool:
        """As the app asks after every text; the engine is through with what it was sent before a ping is answered."""
        self._pings += 1
        number = self._pings
        self._engine.send(m.Ping(number))
        self._engine.wait_for(lambda message: message == m.Pong(number))
        shown = [each for each in self._engine.of(session, m.Text) if isinstance(each, m.Text)]
        text = "".join(each.piece for each in shown if each.stable)
        if shown and not shown[-1].stable:
            text += shown[-1].piece
        return bool(text.strip()) and self._commander.is_complete(text)


def in_a_room(samples: Samples, seed: int, noise_rms: float) -> Samples:
    """As a microphone has it: quiet before and after, and a noise throughout."""
    before, after = (np.zeros(round(seconds * RATE), np.float32) for seconds in (BEFORE_S, AFTER_S))
    whole = np.concatenate([before, samples, after])
    return (whole + np.random.default_rng(seed).normal(0.0, noise_rms, len(whole))).astype(np.float32)


class Installed:
    """The applications that can be named; nothing opens them."""

    family = "applications"

    def describe(self, found: Match) -> str:
        return found.title

    def names(self) -> list[Named]:
        return list(APPLICATIONS)

    def perform(self, job: Job) -> Done:
        raise ActionError("bench", f"“{job.match.title}” is not done in a bench.")


def commander() -> Commander:
    """The app's own, in command mode, with nothing to act on."""
    backend = Refusing("none", NO_DISPLAY)
    performer = Performer([Installed()], backend, Typist(backend, 1), UndoLog(), own_pid=1)
    made = Commander(Grammar.load(), performer, lambda: None, lambda *_: None)
    asyncio.run(made.look_around())
    return made


def hear_all(wanted: Sequence[Heard], noise_rms: float, *, expecting: bool) -> Iterator[Heard]:
    """Speak everything to a real engine, which looks for what is expected or not; tells how far it is."""
    with EngineProcess() as engine:
        ear = Ear(engine, commander(), expecting=expecting)
        for number, each in enumerate(wanted, start=1):
            heard = ear.hear(in_a_room(say(each.said, each.voice), number, noise_rms))
            texts = tuple(text.piece for text in heard)
            others = tuple(
                tuple((other.text, other.behind, other.by_language) for other in text.alternatives) for text in heard
            )
            print(f"{number}/{len(wanted)} {each.voice}: {each.said} → {texts}", file=sys.stderr)
            yield Heard(each.intent, each.said, each.voice, texts, others)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, nargs="+", default=TEXTS, help="files of sentences by intent")
    parser.add_argument("--voices", default=VOICES, help=f"names of tests/speech.py's voices; {VOICES}")
    parser.add_argument("--ordinary", type=Path, help="a file of ordinary sentences to speak instead, one a line")
    parser.add_argument("--every", type=int, default=1, help="of the ordinary sentences, every so many")
    parser.add_argument("--noise", type=float, default=NOISE_RMS, help="RMS of the room's noise, 1.0 is full scale")
    parser.add_argument("--unexpecting", action="store_true", help="as with a server that looks for no sentences")
    parser.add_argument("--keep", type=Path, help="file for what was heard")
    parser.add_argument("--again", type=Path, help="file of what was heard before")
    options = parser.parse_args()
    grammar, names = Grammar.load(), Names(APPLICATIONS)
    if options.ordinary:
        lines = [line for line in options.ordinary.read_text(encoding="utf-8").splitlines() if line.strip()]
        talk = [Heard("", text, voice) for voice in options.voices.split(",") for text in lines[:: options.every]]
        known = list(hear_all(talk, options.noise, expecting=not options.unexpecting))
        print(ordinary_table(known, grammar, names))
        return 0
    sets = {file.stem: list(sentences(file)) for file in options.texts}
    if options.again:
        known = [Heard.kept(each) for each in json.loads(options.again.read_text())]
    else:
        said = [each for chosen in sets.values() for each in chosen]
        wanted = [Heard(intent, text, voice) for voice in options.voices.split(",") for intent, text in said]
        for each in wanted:
            judge(each, grammar, names)  # A sentence that is no command is found before an hour of listening.
        known = list(hear_all(wanted, options.noise, expecting=not options.unexpecting))
    if options.keep:
        options.keep.write_text(json.dumps([asdict(each) for each in known], indent=1))
    for name, chosen in sets.items():
        judged = [judge(each, grammar, names) for each in known if (each.intent, each.said) in set(chosen)]
        missing = set(grammar.commands) - {each.heard.intent for each in judged}
        print(f"\n{name}: {len(judged)} spoken, {len(missing)} commands not among them {sorted(missing) or ''}")
        print(table(judged))
        print(confusions(judged))
    return 0


if __name__ == "__main__":
    sys.exit(main())
