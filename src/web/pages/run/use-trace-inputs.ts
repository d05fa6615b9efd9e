import { useEffect } from 'react'
import { useRouteText } from '../../api/use-route.ts'
import { textAt } from '../../parts/json-text/json-text.ts'

/** What a trace's first span was asked with, as JSON text: its inputs, and of an evaluator the outputs that it judged. */
export interface TraceInputs {
  readonly inputs: string
  readonly outputs: string | undefined
}

/** Tells the inputs of a trace once they are there. */
export function useTraceInputs(traceId: string | undefined, onInputs: (given: TraceInputs) => void) {
  const answer = useRouteText(
    'GET /traces/{id}',
    { path: { id: traceId ?? '' } },
    { enabled: traceId !== undefined },
  )
  useEffect(() => {
    if (answer.data !== undefined) onInputs(inputsIn(answer.data))
  }, [answer.data])
  return answer
}

function inputsIn(answer: string): TraceInputs {
  const { trace } = JSON.parse(answer) as {
    readonly trace: { readonly spans: Readonly<Record<string, unknown>> }
  }
  const [first] = Object.entries(trace.spans)
  if (!first) return { inputs: '{}', outputs: undefined }
  const [name, span] = first
  const place = ['trace', 'spans', name, ...(Array.isArray(span) ? [0] : [])]
  const asked = [...place, 'attributes', 'svc', 'data', 'inputs']
  return {
    inputs: textAt(answer, [...asked, 'inputs']) ?? textAt(answer, asked) ?? '{}',
    outputs: textAt(answer, [...asked, 'outputs']),
  }
}
