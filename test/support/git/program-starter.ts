import { type ExecFileException, execFile, spawnSync } from 'node:child_process'
import { openSync } from 'node:fs'
import { readFrame, writeFrame } from './frames.ts'
import type { NumberedCall, NumberedEnd, ProgramCall, ProgramEnd } from './small-process.ts'

/**
 * Runs the programs that another process names until that has ended (see small-process.ts): one after the other where they are named on a pipe,
 * `node program-starter.js <calls> <ends>`; all at once where they are named by messages.
 */
const MOST = 256 * 1024 * 1024
const NOTHING = Buffer.alloc(0)
const [calls, ends] = process.argv.slice(2)
if (calls === undefined || ends === undefined) {
  process.on('message', (message) => {
    const { number, call } = message as NumberedCall // sent by small-process.ts
    void run(call).then((end) => process.send?.({ number, end } satisfies NumberedEnd))
  })
} else {
  const asked = openSync(calls, 'r')
  const told = openSync(ends, 'w')
  for (;;) {
    const call = readFrame(asked)
    if (call === undefined) break
    writeFrame(told, runAlone(call as ProgramCall)) // written by small-process.ts
  }
}

function runAlone({ command, args, cwd, env, input }: ProgramCall): ProgramEnd {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, input, maxBuffer: MOST })
  return { status, output: stdout ?? NOTHING, complaint: stderr ?? NOTHING, error: error && whyOf(error) }
}

function run({ command, args, cwd, env, input }: ProgramCall): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    const options = { cwd, env, maxBuffer: MOST, encoding: 'buffer' } as const
    const child = execFile(command, args, options, (error, output, complaint) => {
      // A number is what it ended with.
      const failure = typeof error?.code === 'string' ? whyOf(error) : undefined
      resolve({ status: failure ? null : child.exitCode, output, complaint, error: failure })
    })
    child.stdin?.on('error', () => undefined) // it need not read what it is given
    child.stdin?.end(input)
  })
}

function whyOf({ code, message }: NodeJS.ErrnoException | ExecFileException): ProgramEnd['error'] {
  return { code: String(code), message }
}
