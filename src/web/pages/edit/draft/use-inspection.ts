import { useEffect, useState } from 'react'
import { call } from '../../../api/call.ts'
import { type FieldProblem, Problem } from '../../../api/problem.ts'
import type { JsonPath } from '../../../parts/json-text/json-text.ts'
import { useSettled } from './use-settled.ts'

/** A pause in typing after which the server is asked, in milliseconds. */
const PAUSE = 700

/** What the server says is wrong with a draft, by place. */
export interface Inspection {
  readonly problems: readonly FieldProblem[]
  /** What is wrong at a place, or below it. */
  readonly problemAt: (path: JsonPath) => string | undefined
}

/** Has the server look at the `data` of a draft, as JSON text, whenever somebody stops typing. A server that is away finds nothing. */
export function useInspection(text: string): Inspection {
  const asked = useSettled(text, PAUSE)
  const [found, setFound] = useState<{ readonly text: string; readonly problems: readonly FieldProblem[] }>()
  useEffect(() => {
    const left = new AbortController()
    call('POST /services/inspect', { text: `{"revision":{"data":${asked}}}` }, left.signal).then(
      () => setFound(undefined),
      (error: unknown) => {
        if (left.signal.aborted) return
        setFound(
          error instanceof Problem ? { text: asked, problems: error.errors.map(belowData) } : undefined,
        )
      },
    )
    return () => left.abort()
  }, [asked])
  const problems = found?.text === text ? found.problems : []
  return {
    problems,
    problemAt: (path) =>
      problems.find(({ loc }) => path.every((step, at) => String(step) === String(loc[at])))?.msg,
  }
}

/** Places are told from the top of the request. */
function belowData({ loc, msg }: FieldProblem): FieldProblem {
  return { loc: loc.slice(loc.lastIndexOf('data') + 1), msg }
}
