/**
 * What a model said instead of an answer: `choices[0].message.refusal` of a body of the chat-completions protocol, or
 * `choices[0].delta.refusal` of a piece of one; '' in any other.
 */
export function modelRefusalOf(body: unknown): string {
  const choices = memberOf(body, 'choices')
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  const refusal = memberOf(memberOf(choice, 'message') ?? memberOf(choice, 'delta'), 'refusal')
  return typeof refusal === 'string' ? refusal : ''
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  // It was just seen to be there.
  return (value as Readonly<Record<string, unknown>>)[key]
}
