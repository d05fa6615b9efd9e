import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { ReadStream } from 'node:tty'

/** Asks for one line on a terminal without showing what is typed. Undefined if the user gave up (Ctrl-C, Ctrl-D). */
export function askHidden(
  question: string,
  terminal: ReadStream,
  show: Writable,
): Promise<string | undefined> {
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() })
  // In terminal mode readline echoes by itself, here into a stream that discards it.
  const lines = createInterface({ input: terminal, output: nowhere, terminal: true, historySize: 0 })
  // The question is written after echoing was turned off, so nothing typed after it is shown.
  show.write(question)
  return new Promise((resolve) => {
    let answer: string | undefined
    lines.once('line', (line) => {
      answer = line
      lines.close()
    })
    lines.once('close', () => {
      show.write('\n')
      resolve(answer)
    })
  })
}
