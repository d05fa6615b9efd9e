import { createInterface } from 'node:readline'
import type { ReadStream } from 'node:tty'
import { Writable } from 'node:stream'

/**
 * Asks a question on a terminal and reads one line that the terminal does not show. Undefined if whoever was asked gave up
 * (Ctrl-C, Ctrl-D).
 */
export function askHidden(
  question: string,
  terminal: ReadStream,
  show: Writable,
): Promise<string | undefined> {
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() })
  // In the mode of a terminal readline echoes by itself, and what it echoes to shows nothing.
  const lines = createInterface({ input: terminal, output: nowhere, terminal: true, historySize: 0 })
  // Only now, as nothing that is typed from here on is shown.
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
