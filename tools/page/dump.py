#!/usr/bin/env python3
"""The documents that pages become, in a Chromium without a window that stays for all of them: its
start takes longer than most pages. It is spoken to through a pipe (Chrome DevTools Protocol).

    dump.py CHROMIUM <jobs

A job is a line: OUTPUT, WIDTH,HEIGHT of the window, and the page's address, with tabs between them.
When the document is in OUTPUT, its line is printed. Timers of a page run ahead, by a minute.
Exit: 1, with a sentence, if the browser ends or a page takes more than two minutes."""
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# A page is gone before threads that compile and collect for its scripts, or draw, would pay.
# (--single-process saves more, and crashes one time in thirty.)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--js-flags=--single-threaded",
         "--disable-threaded-compositing", "--disable-extensions",
         "--disable-background-networking", "--disable-component-update",
         "--remote-debugging-pipe"]
MOST_SECONDS = 120


class Browser:
    """A Chromium, and the messages to and from it: JSON that a zero byte ends."""

    def __init__(self, chromium, profile):
        reads, self.commands = os.pipe()
        self.answers, writes = os.pipe()

        def place():  # Chromium reads descriptor 3 and writes 4
            high = os.dup(reads), os.dup(writes)  # neither is 3 or 4, or lost where it is
            for descriptor, number in zip(high, (3, 4)):
                os.dup2(descriptor, number)

        self.process = subprocess.Popen([chromium, *FLAGS, f"--user-data-dir={profile}"],
                                        pass_fds=(3, 4), preexec_fn=place,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(reads)
        os.close(writes)
        self.unread, self.events, self.count, self.until = b"", [], 0, 0

    def receive(self):
        """The next message."""
        while b"\0" not in self.unread:
            if not select.select([self.answers], [], [], max(0, self.until - time.monotonic()))[0]:
                sys.exit(f"dump.py: the page takes more than {MOST_SECONDS} seconds")
            part = os.read(self.answers, 1 << 20)
            if not part:
                sys.exit("dump.py: the browser has ended")
            self.unread += part
        message, _, self.unread = self.unread.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        """The result of a command; events that come before it are kept."""
        self.count += 1
        command = {"id": self.count, "method": method, "params": parameters}
        if session:
            command["sessionId"] = session
        try:
            os.write(self.commands, json.dumps(command).encode() + b"\0")
        except BrokenPipeError:
            sys.exit("dump.py: the browser has ended")
        while (answer := self.receive()).get("id") != self.count:
            self.events.append(answer.get("method"))
        if "error" in answer:
            sys.exit(f"dump.py: {method}: {answer['error']['message']}")
        return answer["result"]

    def wait(self, event):
        """Until that has happened."""
        while event not in self.events:
            self.events.append(self.receive().get("method"))

    def document(self, address, width, height):
        """The page's document as text, in a window of that size."""
        self.until = time.monotonic() + MOST_SECONDS
        self.events = []
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", session, width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Page.enable", session)
        self.call("Page.navigate", session, url=address)
        self.wait("Page.loadEventFired")
        self.call("Emulation.setVirtualTimePolicy", session, budget=60000,
                  policy="pauseIfNetworkFetchesPending")
        self.wait("Emulation.virtualTimeBudgetExpired")
        found = self.call("Runtime.evaluate", session, returnByValue=True,
                          expression="document.documentElement.outerHTML")
        self.call("Target.closeTarget", targetId=page)
        return found["result"]["value"]

    def close(self):
        """Ends it, and waits: it writes into its profile until then."""
        self.until = time.monotonic() + MOST_SECONDS
        self.call("Browser.close")
        self.process.wait()


def main():
    profile = tempfile.mkdtemp()
    browser = Browser(sys.argv[1], profile)
    try:
        signal.signal(signal.SIGINT, lambda *_: sys.exit(130))  # ignored until here: chromium.sh
        for line in sys.stdin:
            output, size, address = line.rstrip("\n").split("\t")
            text = browser.document(address, *map(int, size.split(",")))
            try:
                with open(output, "w", encoding="utf-8") as file:
                    file.write(text)
                os.write(1, f"{output}\n".encode())
            except (FileNotFoundError, BrokenPipeError):  # who asked for it has been interrupted
                sys.exit(130)
        browser.close()
    finally:
        browser.process.kill()
        browser.process.wait()
        shutil.rmtree(profile, ignore_errors=True)


main()
