import { call } from '../../api/call.ts'
import { Problem } from '../../api/problem.ts'

/** Slugs of what the tour makes. */
export const PROMPT = 'capitals'
export const TESTSET = 'capital-cities'
const EVALUATOR = 'exact-capital'

/** A prompt whose examples know two capitals of the testset's three. */
export function makePrompt(): Promise<unknown> {
  return call('POST /simple/applications', {
    body: {
      application: {
        slug: PROMPT,
        name: 'Capitals',
        data: {
          uri: 'svc:builtin:completion:v0',
          parameters: {
            prompt: {
              messages: [
                { role: 'system', content: 'Name the capital of the country, and nothing else.' },
                { role: 'user', content: 'Norway' },
                { role: 'assistant', content: 'Oslo' },
                { role: 'user', content: 'Peru' },
                { role: 'assistant', content: 'Lima' },
                { role: 'user', content: '{{country}}' },
              ],
              llm_config: { model: 'mock/examples', temperature: 0 },
              template_format: 'curly',
            },
          },
        },
      },
    },
  })
}

export function makeTestset(): Promise<unknown> {
  return call('POST /simple/testsets', {
    body: {
      testset: {
        slug: TESTSET,
        name: 'Capital cities',
        data: {
          testcases: [
            { data: { country: 'Norway', capital: 'Oslo' } },
            { data: { country: 'Peru', capital: 'Lima' } },
            { data: { country: 'Chad', capital: 'N’Djamena' } },
          ],
        },
      },
    },
  })
}

/** Runs the prompt over the testset, and answers the evaluation's id. The evaluator is made where it is not there yet. */
export async function startEvaluation(): Promise<string> {
  await call('POST /simple/evaluators', {
    body: {
      evaluator: {
        slug: EVALUATOR,
        name: 'Exact capital',
        template: 'auto_exact_match',
        data: { parameters: { correct_answer_key: 'capital' } },
      },
    },
  }).catch((error: unknown) => {
    if (!(error instanceof Problem && error.status === 409)) throw error
  })
  const { evaluation } = await call('POST /evaluations/run', {
    body: {
      application_ref: { slug: PROMPT },
      testset_ref: { slug: TESTSET },
      evaluator_refs: [{ slug: EVALUATOR }],
    },
  })
  return evaluation.id
}
