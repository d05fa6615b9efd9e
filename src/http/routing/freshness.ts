import type { EndpointResponse } from './endpoint.ts'

/**
 * The answer, saying how old it may be where it is a list of a project with so many artifacts that what plain git did is seen later than
 * after two seconds: `Svc-Freshness: files; age=<ms>` (wire 8).
 */
export function withFreshness(answer: EndpointResponse, age: number): EndpointResponse {
  if (age === 0 || !answer.body || !('count' in answer.body)) return answer
  return { ...answer, headers: { ...answer.headers, 'Svc-Freshness': `files; age=${Math.round(age)}` } }
}
