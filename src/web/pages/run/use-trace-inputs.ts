import { useEffect } from 'react'
import { useRouteText } from '../../api/use-route.ts'
import { textAt } from '../../parts/json-text/json-text.ts'

/** What a trace's first span was asked with, as JSON text. */
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
  const [name = ''] = Object.keys(trace.spans)
  const data = ['trace', 'spans', name, 'attributes', 'svc', 'data']
  return {
    inputs: textAt(answer, [...data, 'inputs']) ?? '{}',
    outputs: textAt(answer, [...data, 'outputs']),
  }
}
