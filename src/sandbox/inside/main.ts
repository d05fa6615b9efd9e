import { Buffer } from 'node:buffer'
import { readSync, writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import {
  type ScriptReply,
  type BoundScript,
  type InterpreterStart,
  MESSAGE_TAGS,
  type MessageTag,
  type ScriptInterpreter,
} from './messages.ts'
import { openJavaScript } from './javascript.ts'
import { openPython } from './python.ts'
import { hardenRealm } from './seal.ts'

/**
 * An interpreter's process. It starts the interpreter, makes itself harmless, and answers calls until the pipe closes. From then on
 * it never returns to the event loop: nothing that a script leaves behind (timers, promises, imports) has a turn in which to run.
 */

/** The one file descriptor it has. */
const PIPE = 3

const read = readSync
const write = writeSync
const kill = process.kill.bind(process)
const { pid } = process

const start = JSON.parse(expectMessage(MESSAGE_TAGS.start).toString()) as InterpreterStart // our own server wrote it
watch(start)
const snapshot = start.snapshot === 'given' ? expectMessage(MESSAGE_TAGS.snapshot) : undefined
const { runtime, memory } = await open(start, snapshot)
hardenRealm()
send(MESSAGE_TAGS.ready, memory ?? new Uint8Array())
for (let message = nextMessage(); message; message = nextMessage()) {
  if (message.letter === MESSAGE_TAGS.bind) {
    runtime.bind(JSON.parse(message.body.toString()) as BoundScript) // our own server wrote it
    continue
  }
  const { letter, text } = answerOf(message.body.toString())
  send(letter, Buffer.from(text))
}
kill(pid, 'SIGKILL')

async function open(
  { runtime, memoryBytes, resultBytes, snapshot }: InterpreterStart,
  given: Uint8Array | undefined,
): Promise<{ readonly runtime: ScriptInterpreter; readonly memory?: Uint8Array | undefined }> {
  if (runtime === 'python') return openPython({ resultBytes, from: given, keep: snapshot === 'wanted' })
  return { runtime: await openJavaScript({ isTyped: runtime === 'typescript', memoryBytes, resultBytes }) }
}

/** What escapes an interpreter (a stack of the host's that ran out, an abort of its own) has broken it. */
function answerOf(args: string): ScriptReply {
  try {
    return runtime.call(args)
  } catch (error) {
    const message =
      error instanceof RangeError
        ? 'The script ran out of stack.'
        : 'The script ended or broke its interpreter.'
    return { letter: MESSAGE_TAGS.lastFailure, text: JSON.stringify({ kind: 'exception', message }) }
  }
}

/** Ends the process when its server is gone, or it takes more memory than scripts can. */
function watch({ parent, memoryBytes }: InterpreterStart): void {
  const worker = new Worker(new URL('./watchdog.js', import.meta.url), {
    workerData: { parent, memoryBytes },
  })
  worker.unref()
}

function expectMessage(letter: MessageTag): Buffer {
  const message = nextMessage()
  if (message?.letter !== letter) throw new Error(`Expected a message ${letter}, got ${message?.letter}.`)
  return message.body
}

/** The next message; undefined once the server has closed the pipe. */
function nextMessage(): { readonly letter: string; readonly body: Buffer } | undefined {
  const head = readBytes(5)
  const body = head && readBytes(head.readUInt32BE() - 1)
  return body && { letter: head.toString('latin1', 4), body }
}

function readBytes(length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(length)
  for (let done = 0; done < length;) {
    const count = read(PIPE, bytes, done, length - done, null)
    if (count === 0) return undefined
    done += count
  }
  return bytes
}

function send(letter: MessageTag, body: Uint8Array): void {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(body.length + 1)
  head.write(letter, 4)
  const message = body.length < 65_536 ? [Buffer.concat([head, body])] : [head, body]
  for (const bytes of message)
    for (let done = 0; done < bytes.length;) done += write(PIPE, bytes, done, bytes.length - done)
}
