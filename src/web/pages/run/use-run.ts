import { useEffect, useRef, useState } from 'react'
import { type FieldProblem, Problem, callInPieces } from '../../api/call.ts'
import { textAt } from '../../parts/json-text/json-text.ts'

/** A run to start. All texts are JSON. */
export interface RunRequest {
  readonly revisionId: string
  readonly inputs: string
  /** For an evaluator: the outputs to judge. */
  readonly outputs: string | undefined
  /** The row that the inputs came from. */
  readonly testcaseId: string | undefined
}

/** The state of a run. */
export interface RunState {
  readonly status: 'running' | 'done' | 'failed' | 'stopped'
  /** The reply so far. */
  readonly written: string
  /** As JSON text. */
  readonly outputs: string | undefined
  readonly error: RunFailure | undefined
  readonly traceId: string | undefined
  readonly tokens: { readonly prompt: number; readonly completion: number } | undefined
  /** The duration, in milliseconds. */
  readonly ms: number | undefined
}

/** Why a run failed. */
export interface RunFailure {
  readonly message: string
  readonly code: string
  /** The fields of the request that are wrong. */
  readonly problems?: readonly FieldProblem[]
}

const BEGUN: RunState = {
  status: 'running',
  written: '',
  outputs: undefined,
  error: undefined,
  traceId: undefined,
  tokens: undefined,
  ms: undefined,
}

/** Runs a revision and shows the reply while it is written. One run at a time; leaving the page stops it. */
export function useRun(whenOver: (state: RunState) => void) {
  const [state, setState] = useState<RunState>()
  const stopper = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => stopper.current?.abort(), [])

  async function run(request: RunRequest): Promise<void> {
    stopper.current?.abort()
    const mine = new AbortController()
    stopper.current = mine
    const from = performance.now()
    let now = BEGUN
    setState(now)
    try {
      for await (const record of callInPieces(
        'POST /services/invoke',
        { text: bodyOf(request) },
        mine.signal,
      )) {
        now = withRecord(now, record)
        if (stopper.current === mine) setState(now)
      }
      if (now.status === 'running') now = { ...now, status: 'failed', error: CUT_OFF }
    } catch (error) {
      now = mine.signal.aborted
        ? { ...now, status: 'stopped' }
        : { ...now, status: 'failed', ...failureOf(error) }
    }
    if (stopper.current !== mine) return
    stopper.current = undefined
    now = { ...now, ms: performance.now() - from }
    setState(now)
    whenOver(now)
  }
  return { state, run, stop: () => stopper.current?.abort(), show: setState }
}

const CUT_OFF = { message: 'The answer ended before its last record.', code: 'cut_off' }

function bodyOf({ revisionId, inputs, outputs, testcaseId }: RunRequest): string {
  const row = testcaseId === undefined ? '' : `,"testcase":{"id":"${testcaseId}"}`
  const judged = outputs === undefined ? '' : `,"outputs":${outputs}`
  return `{"references":{"workflow_revision":{"id":"${revisionId}"}${row}},"data":{"inputs":${inputs}${judged}}}`
}

/** A record of a stream (docs/guide/running.md): a part of the reply, its usage, or the result. */
function withRecord(state: RunState, text: string): RunState {
  const record = JSON.parse(text) as {
    readonly type?: string
    readonly data?: Readonly<Record<string, unknown>>
    readonly status?: { readonly message: string }
    readonly code?: string
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
      }
    case 'error':
      return {
        ...state,
        traceId,
        status: 'failed',
        error: { message: record.status?.message ?? '', code: record.code ?? 'unknown' },
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
  const traceId = error.document['trace_id']
  return {
    error: { message: error.message, code: error.code, problems: error.errors },
    traceId: typeof traceId === 'string' ? traceId : undefined,
  }
}
