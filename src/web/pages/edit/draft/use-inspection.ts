import { useEffect, useMemo, useState } from 'react'
import { call, type FieldProblem, Problem } from '../../../api/call.ts'
import { parseJson, membersOf } from '../../../api/json.ts'
import { type JsonPath, textAt } from '../../../parts/json-text/json-text.ts'
import { schemaProblems } from '../../../parts/schema/schema-problems.ts'

/** A pause in typing after which the server is asked, in milliseconds. */
const PAUSE = 700

/** What is wrong with a draft, by place: by its own schema of parameters, and by what the server says. */
export interface Inspection {
  readonly problems: readonly FieldProblem[]
  /** Whether the server would not take the draft; what it would take all the same is a warning. */
  readonly isRefused: boolean
  /** Whether the server has looked at the draft as it is now; `unreachable` where it could not be asked. */
  readonly checked: 'yes' | 'not yet' | 'unreachable'
  /** What is wrong at a place, or below it. */
  readonly problemAt: (path: JsonPath) => string | undefined
}

/**
 * Holds the parameters of a draft, its `data` as JSON text, against the schema that it has for them, and has the server look at all of it whenever
 * somebody stops typing.
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
  const own = useMemo(() => problemsOfParameters(text), [text])
  const said = found?.text === text ? found.problems : []
  // Where the schema is broken is said by place here, and as a whole by the server.
  const problems = [...own, ...said.filter(({ type }) => own.length === 0 || type !== 'schema_violation')]
  return {
    problems,
    isRefused: found?.text === text && found.isRefused,
    checked: found?.text !== text ? 'not yet' : found.isReached ? 'yes' : 'unreachable',
    problemAt: (path) =>
      problems.find(({ loc }) => path.every((step, at) => String(step) === String(loc[at])))?.msg,
  }
}

/** What the server takes, and a run would fail with. */
function told({ code, message, target = [] }: Warned): FieldProblem {
  return { loc: target, msg: message, type: code }
}

interface Warned {
  readonly code: string
  readonly message: string
  readonly target?: readonly (string | number)[] | undefined
}

/** What the server refused, by place; a refusal of all of it has none. */
function problemsIn(error: unknown): readonly FieldProblem[] {
  if (!(error instanceof Problem)) return []
  return error.errors.length > 0 ? error.errors.map(belowData) : [{ loc: [], msg: error.message }]
}

/** Places are told from the top of the request. */
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

/** What a value was when it last stood still for `pause` milliseconds: for what takes long to work out, and need not keep up with typing. */
export function useSettled<T>(value: T, pause: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause)
    return () => clearTimeout(timer)
  }, [value, pause])
  return settled
}
