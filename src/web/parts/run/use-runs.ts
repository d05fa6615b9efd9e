import { useEffect, useRef, useState } from 'react'
import { type FieldProblem, Problem, callInPieces } from '../../api/call.ts'
import { costIn } from '../text/text.tsx'
import { problemOfJson, textAt } from '../json-text/json-text.ts'

/** What a run executes: a stored version, or a draft, which the server runs without storing it. */
export type Executed =
  | { readonly revisionId: string }
  /** An empty slug is a draft of something that does not exist yet. */
  | { readonly slug: string; readonly variant: string; /** As JSON text. */ readonly data: string }

/** A run to start. All texts are JSON. */
export interface RunRequest {
  readonly executed: Executed
  readonly inputs: string
  /** For an evaluator: the output to evaluate. */
  readonly outputs?: string | undefined
  /** The row that the inputs came from. */
  readonly testcaseId?: string | undefined
}

/** The state of a run. */
export interface RunState {
  readonly status: 'waiting' | 'running' | 'done' | 'failed' | 'stopped'
  /** The reply so far. */
  readonly written: string
  /** As JSON text. */
  readonly outputs: string | undefined
  readonly error: RunFailure | undefined
  readonly traceId: string | undefined
  readonly tokens: { readonly prompt: number; readonly completion: number } | undefined
  /** In US dollars; undefined where the server does not know the model's price. */
  readonly cost: number | undefined
  /** The duration, in milliseconds. */
  readonly ms: number | undefined
}

/** Why a run failed. */
export interface RunFailure {
  readonly message: string
  readonly code: string
  /** The name of the secret that is missing. */
  readonly secret?: string | undefined
  /** The fields of the request that are wrong. */
  readonly problems?: readonly FieldProblem[]
}

/** A run among several, with the name under which its state is kept. */
export interface RunJob {
  readonly key: string
  readonly request: RunRequest
}

const WAITING: RunState = {
  status: 'waiting',
  written: '',
  outputs: undefined,
  error: undefined,
  traceId: undefined,
  tokens: undefined,
  cost: undefined,
  ms: undefined,
}

/** Browsers open six connections to a server; the rest of the page needs two of them. */
const RUNS_AT_ONCE = 4

/** New text of a running reply is shown at once, then at most this often, in milliseconds. */
const PACE = 50

const NONE: ReadonlyMap<string, RunState> = new Map()

/**
 * Runs versions and drafts, and shows each reply while it is written. Stopping, starting again or leaving the page ends what still runs, also the
 * call to the model's provider.
 */
export function useRuns(whenOver: (job: RunJob, state: RunState) => void) {
  const [states, setStates] = useState(NONE)
  const stopper = useRef<AbortController | undefined>(undefined)
  const newest = useRef(NONE)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const shownAt = useRef(-Infinity)
  useEffect(
    () => () => {
      stopper.current?.abort()
      clearTimeout(timer.current)
    },
    [],
  )

  function flush(): void {
    clearTimeout(timer.current)
    timer.current = undefined
    shownAt.current = performance.now()
    setStates(newest.current)
  }

  function put(key: string, state: RunState): void {
    newest.current = new Map(newest.current).set(key, state)
    if (timer.current !== undefined) return
    const wait = PACE - (performance.now() - shownAt.current)
    if (wait <= 0) flush()
    else timer.current = setTimeout(flush, wait)
  }

  async function start(jobs: readonly RunJob[]): Promise<void> {
    stopper.current?.abort()
    const mine = new AbortController()
    stopper.current = mine
    for (const { key } of jobs) newest.current = new Map(newest.current).set(key, WAITING)
    flush()
    const left = [...jobs]
    const work = async (): Promise<void> => {
      for (let job = left.shift(); job; job = left.shift()) {
        const { key } = job
        if (mine.signal.aborted) {
          if (stopper.current === mine) put(key, { ...WAITING, status: 'stopped' })
          continue
        }
        const state = await runOne(job.request, mine.signal, (now) => {
          if (stopper.current === mine) put(key, now)
        })
        if (stopper.current !== mine) return
        put(key, state)
        whenOver(job, state)
      }
    }
    await Promise.all(Array.from({ length: RUNS_AT_ONCE }, work))
    if (stopper.current === mine) flush()
  }

  return {
    states,
    isRunning: [...states.values()].some(isUnderWay),
    start,
    stop: () => stopper.current?.abort(),
    /** Shows the state of an earlier run. */
    show: (key: string, state: RunState): void => {
      newest.current = new Map(newest.current).set(key, state)
      flush()
    },
  }
}

/** Whether a run is not over yet. */
export function isUnderWay({ status }: RunState): boolean {
  return status === 'waiting' || status === 'running'
}

/** Executes one run. Never rejects: a failure is a state. */
async function runOne(
  request: RunRequest,
  signal: AbortSignal,
  show: (state: RunState) => void,
): Promise<RunState> {
  const from = performance.now()
  let now: RunState = { ...WAITING, status: 'running' }
  show(now)
  try {
    for await (const record of callInPieces('POST /services/invoke', { text: bodyOf(request) }, signal)) {
      now = withRecord(now, record)
      show(now)
    }
    if (now.status === 'running') now = { ...now, status: 'failed', error: CUT_OFF }
  } catch (error) {
    now = signal.aborted ? { ...now, status: 'stopped' } : { ...now, status: 'failed', ...failureOf(error) }
  }
  return { ...now, ms: performance.now() - from }
}

const CUT_OFF = { message: 'The answer ended before its last record.', code: 'cut_off' }

const GARBLED = { message: 'The server sent a record that is not JSON.', code: 'garbled' }

function bodyOf({ executed, inputs, outputs, testcaseId }: RunRequest): string {
  const row = testcaseId === undefined ? '' : `,"testcase":{"id":"${testcaseId}"}`
  const judged = outputs === undefined ? '' : `,"outputs":${outputs}`
  const given = `"inputs":${inputs}${judged}`
  if ('revisionId' in executed)
    return `{"references":{"workflow_revision":{"id":"${executed.revisionId}"}${row}},"data":{${given}}}`
  const { slug, variant, data } = executed
  if (slug === '') return `{"references":{${row.slice(1)}},"data":{"revision":{"data":${data}},${given}}}`
  const of = `"workflow":${JSON.stringify({ slug })},"workflow_variant":${JSON.stringify({ slug: variant })}`
  return `{"references":{${of}${row}},"data":{"revision":{"data":${data}},${given}}}`
}

/** A record of a stream (docs/guide/running.md): a part of the reply, its usage, or the result. */
function withRecord(state: RunState, text: string): RunState {
  if (problemOfJson(text) !== undefined) return { ...state, status: 'failed', error: GARBLED }
  const record = JSON.parse(text) as {
    readonly type?: string
    readonly data?: Readonly<Record<string, unknown>>
    readonly status?: { readonly message: string }
    readonly code?: string
    readonly secret?: string
    readonly trace_id?: string
  }
  const { data = {} } = record
  const traceId = record.trace_id ?? state.traceId
  switch (record.type) {
    case 'message_delta':
      return {
        ...state,
        written: state.written + (typeof data['content'] === 'string' ? data['content'] : ''),
      }
    case 'usage':
      return {
        ...state,
        tokens: { prompt: Number(data['prompt'] ?? 0), completion: Number(data['completion'] ?? 0) },
        cost: costIn(data['costs']),
      }
    case 'error':
      return {
        ...state,
        traceId,
        status: 'failed',
        error: {
          message: record.status?.message ?? '',
          code: record.code ?? 'unknown',
          secret: record.secret,
        },
      }
    case 'result':
    case undefined:
      return { ...state, traceId, status: 'done', outputs: textAt(text, ['data', 'outputs']) ?? 'null' }
    default:
      return state
  }
}

function failureOf(error: unknown): Pick<RunState, 'error' | 'traceId'> {
  if (!(error instanceof Problem)) {
    return {
      error: { message: error instanceof Error ? error.message : String(error), code: 'unreachable' },
      traceId: undefined,
    }
  }
  const { trace_id: traceId, secret } = error.document
  return {
    error: {
      message: error.message,
      code: error.code,
      problems: error.errors,
      secret: typeof secret === 'string' ? secret : undefined,
    },
    traceId: typeof traceId === 'string' ? traceId : undefined,
  }
}
