import { get } from 'idb-keyval'
import { useEffect, useState } from 'react'
import { inputsKept } from '../drafts/drafts-kept.ts'
import { useKeeping } from '../drafts/use-keeping.ts'
import { useSession } from '../../shell/session.tsx'

/** Inputs are saved after this pause in typing, in milliseconds. */
const PAUSE = 300

/** The inputs of a prompt, all as JSON text. */
interface Inputs {
  readonly inputs: string
  /** For an evaluator: the output to evaluate. */
  readonly judged: string
  /** Where they came from, though they may have been changed since. */
  readonly source?: InputsSource | undefined
}

/** A row of a testset, or a trace, whose inputs are used. */
export interface InputsSource {
  /** The id of the row or the trace. */
  readonly key: string
  /** As JSON text, without the testset's own columns. */
  readonly inputs: string
  /** Of an evaluator's trace: the output that it evaluated. */
  readonly judged?: string | undefined
  /** The row's id. */
  readonly testcaseId?: string
}

/** The inputs that a page shows. */
export interface InputsState extends Inputs {
  /** Whether the inputs of the last visit are loaded. */
  readonly isRead: boolean
  /** Changes when the inputs are replaced, so that the fields start again. */
  readonly turn: number
  /** Takes what a field says. */
  readonly type: (change: Partial<Inputs>) => void
  /** Replaces the inputs. */
  readonly fill: (inputs: Partial<Inputs>) => void
  /** The id of the row that the inputs are; undefined if they were changed. */
  readonly testcaseId: string | undefined
}

const EMPTY: Inputs = { inputs: '{}', judged: '""' }

/** The inputs for an artifact. This browser keeps them, so that they survive a reload and are the same in the editor and in the playground. */
export function useInputs(slug: string): InputsState {
  const { project } = useSession()
  const name = `${project}/${slug}`
  const [state, setState] = useState<Inputs & Pick<InputsState, 'isRead' | 'turn'>>({
    ...EMPTY,
    isRead: false,
    turn: 0,
  })
  const { keepSoon } = useKeeping<Inputs>(name, (it) => it, undefined, inputsKept)

  useEffect(() => {
    let isWanted = true
    get<Inputs>(name, inputsKept)
      // A browser that stores nothing begins with empty inputs.
      .catch(() => undefined)
      .then((kept) => {
        if (isWanted)
          setState((before) => ({ ...(before.isRead ? before : { ...before, ...kept }), isRead: true }))
      })
    return () => {
      isWanted = false
    }
  }, [name])

  const put = (change: Partial<Inputs>, turns: number): void =>
    setState((before) => {
      const { inputs, judged, source } = { ...before, ...change }
      keepSoon({ inputs, judged, source }, PAUSE)
      return { inputs, judged, source, isRead: true, turn: before.turn + turns }
    })
  const { source, inputs } = state
  return {
    ...state,
    testcaseId: source?.inputs === inputs ? source.testcaseId : undefined,
    type: (change) => put(change, 0),
    fill: (change) => put(change, 1),
  }
}

/** Takes the inputs of a row or a trace once it is loaded, unless it is the one whose inputs, perhaps changed, are shown already. */
export function useSource(source: InputsSource | undefined, state: InputsState, onFilled: () => void): void {
  useEffect(() => {
    if (!source || !state.isRead || source.key === state.source?.key) return
    const { inputs, judged } = source
    state.fill({ inputs, source, ...(judged === undefined ? {} : { judged }) })
    onFilled()
  }, [source?.key, state.isRead])
}
