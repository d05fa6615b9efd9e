import { constants } from 'node:fs'
import { loadPyodide } from 'pyodide'
import { type ScriptReply, MESSAGE_TAGS, type MessageTag, type ScriptInterpreter } from './messages.ts'
import { PYTHON_HARNESS } from './python-harness.ts'

export interface PythonStart {
  readonly resultBytes: number
  /** The memory of another that had just started: five times as quick. */
  readonly from: Uint8Array | undefined
  /** Whether to give its memory away for others. */
  readonly keep: boolean
}

/**
 * Starts CPython compiled to WebAssembly. Its bridge to JavaScript is cut, its files are in its own memory, its output goes nowhere. How
 * much memory it may take is a flag of the process. Each call runs the script anew, in globals of its own; modules it has imported stay.
 */
export async function openPython({
  resultBytes,
  from,
  keep,
}: PythonStart): Promise<{ readonly runtime: ScriptInterpreter; readonly memory: Uint8Array | undefined }> {
  // it asks for the flags of open(2), and Node's permissions refuse the question
  Object.assign(process, { binding: () => ({ fs: constants }) })
  // it would tell scripts where it is
  process.argv.length = 1
  const python = await loadPyodide({
    jsglobals: Object.create(null) as object,
    env: {},
    ...(from ? { _loadSnapshot: from } : {}),
    _makeSnapshot: keep,
  })
  if (!from) python.runPython(PYTHON_HARNESS)
  const memory = keep ? python.makeMemorySnapshot() : undefined
  python.setStdin({ error: true })
  const swallow = { write: (bytes: Uint8Array) => bytes.length }
  python.setStdout(swallow)
  python.setStderr(swallow)
  // the harness defines it so
  const [bind, call] = python.runPython(`open_harness(${resultBytes})`) as Harness
  return {
    memory,
    runtime: {
      bind: ({ script, entryPoint }) => bind(script, entryPoint),
      call: (args) => answerIn(call(args)),
    },
  }
}

type Harness = [bind: (script: string, entryPoint: string) => void, call: (args: string) => string]

const ANSWERS: readonly MessageTag[] = [MESSAGE_TAGS.value, MESSAGE_TAGS.nothing, MESSAGE_TAGS.failure]

/** The harness answers the letter and the text in one string. */
function answerIn(answer: string): ScriptReply {
  const letter = answer[0] as ScriptReply['letter'] // checked right here; a script can get hold of the harness
  if (typeof answer !== 'string' || !ANSWERS.includes(letter)) throw new TypeError('The harness is broken.')
  return { letter, text: answer.slice(1) }
}
