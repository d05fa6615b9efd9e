import { useDeferredValue, useEffect, useState } from 'react'
import { type FieldProblem, Problem } from '../../api/problem.ts'
import { useRouteText } from '../../api/use-route.ts'
import type { JsonPath } from '../../parts/json-text/json-text.ts'

/** A pause in typing after which the server is asked, in milliseconds. */
const PAUSE = 700

/** What the server says is wrong with a draft, by place. */
export interface Inspection {
  readonly problems: readonly FieldProblem[]
  /** What is wrong at a place, or below it. */
  readonly problemAt: (path: JsonPath) => string | undefined
}

/** Has the server look at a workflow that is not stored yet, whenever somebody stops typing. */
export function useInspection(text: string): Inspection {
  const [asked, setAsked] = useState<string>()
  const settled = useDeferredValue(text)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(settled), PAUSE)
    return () => clearTimeout(timer)
  }, [settled])
  const { error } = useRouteText(
    'POST /services/inspect',
    { text: `{"revision":{"data":${asked ?? '{}'}}}` },
    { enabled: asked !== undefined },
  )
  const problems = error instanceof Problem && asked === text ? error.errors.map(belowData) : []
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
