import { startTransition, useDeferredValue, useEffect, useMemo, useState } from 'react'
import { call, type FieldProblem, Problem } from '../../api/call.ts'
import { parseJson, membersOf } from '../../api/json.ts'
import { type JsonPath, textAt } from '../json-text/json-text.ts'
import { schemaProblems } from '../schema/schema-problems.ts'

/** The server checks the draft after this pause in typing, in milliseconds. */
const PAUSE = 700

/** The problems of a draft: found with its own schema, and by the server. */
export interface Inspection {
  readonly problems: readonly FieldProblem[]
  /** Whether the server would refuse the draft; otherwise its problems are warnings. */
  readonly isRefused: boolean
  /** Whether the server has checked the current draft. */
  readonly checked: 'yes' | 'not yet' | 'unreachable'
  /** The problem at a path, or below it. */
  readonly problemAt: (path: JsonPath) => string | undefined
  /** The provider key that a run would miss, such as `OPENAI_API_KEY`. */
  readonly missingKey: string | undefined
}

/**
 * Checks the parameters of a draft (its `data` as JSON text) against their schema, and lets the server check all of it after each pause in typing.
 */
export function useInspection(text: string): Inspection {
  const asked = useSettled(text, PAUSE)
  const [found, setFound] = useState<{
    readonly text: string
    readonly problems: readonly FieldProblem[]
    readonly isReached: boolean
    readonly isRefused: boolean
  }>()
  useEffect(() => {
    const left = new AbortController()
    call('POST /services/inspect', { text: `{"revision":{"data":${asked}}}` }, left.signal).then(
      ({ warnings = [] }) =>
        setFound({ text: asked, problems: warnings.map(told), isReached: true, isRefused: false }),
      (error: unknown) => {
        if (left.signal.aborted) return
        const isRefused = error instanceof Problem
        setFound({ text: asked, problems: problemsIn(error), isReached: isRefused, isRefused })
      },
    )
    return () => left.abort()
  }, [asked])
  const followed = useDeferredValue(text)
  const own = useMemo(() => problemsOfParameters(followed), [followed])
  const said = found?.text === text ? found.problems : []
  // Schema violations are located here; the server reports them as one.
  const problems = [...own, ...said.filter(({ type }) => own.length === 0 || type !== 'schema_violation')]
  return {
    problems,
    isRefused: found?.text === text && found.isRefused,
    checked: found?.text !== text ? 'not yet' : found.isReached ? 'yes' : 'unreachable',
    problemAt: (path) =>
      problems.find(
        ({ loc, type }) => type !== MISSING_KEY && path.every((step, at) => String(step) === String(loc[at])),
      )?.msg,
    missingKey: /\b[A-Z][A-Z0-9_]*_API_KEY\b/.exec(
      problems.find(({ type }) => type === MISSING_KEY)?.msg ?? '',
    )?.[0],
  }
}

/** The code of the warning that no key is there for the model. */
const MISSING_KEY = 'missing_api_key'

/** A warning: the server accepts it, but a run would fail. */
function told({ code, message, target = [] }: Warned): FieldProblem {
  return { loc: target, msg: message, type: code }
}

interface Warned {
  readonly code: string
  readonly message: string
  readonly target?: readonly (string | number)[] | undefined
}

/** The server's refusal, by place; one about the whole draft has no place. */
function problemsIn(error: unknown): readonly FieldProblem[] {
  if (!(error instanceof Problem)) return []
  return error.errors.length > 0 ? error.errors.map(belowData) : [{ loc: [], msg: error.message }]
}

/** The server's places start at the top of the request. */
function belowData({ loc, msg }: FieldProblem): FieldProblem {
  return { loc: loc.slice(loc.lastIndexOf('data') + 1), msg }
}

function problemsOfParameters(text: string): readonly FieldProblem[] {
  const [schema, parameters] = [textAt(text, ['schemas', 'parameters']), textAt(text, ['parameters'])]
  if (schema === undefined || parameters === undefined) return []
  return schemaProblems(membersOf(parseJson(schema)), parseJson(parameters)).map(({ path, msg }) => ({
    loc: ['parameters', ...path],
    msg,
  }))
}

/** A value after it has not changed for `pause` milliseconds, for what is too slow to follow typing. */
export function useSettled<T>(value: T, pause: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => startTransition(() => setSettled(value)), pause)
    return () => clearTimeout(timer)
  }, [value, pause])
  return settled
}
