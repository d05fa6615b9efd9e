import { getKey } from '../../json/json.ts'
import { HandlerFailure } from '../handler-failure.ts'
import type { Handler } from '../handler.ts'

/** `svc:custom:feedback:v0` (contract/handlers 2.9): describes what people say about outputs. It always fails. */
export const feedback: Handler = ({ data }) => {
  const uri = getKey(data, 'uri')
  throw new HandlerFailure(
    'v0:workflows:feedback-error',
    `${typeof uri === 'string' ? uri : 'svc:custom:feedback:v0'} is the interface of feedback that people give; nothing runs it.`,
  )
}
