import type { SoakClient } from './soak-client.ts'
import type { SteadyTask } from './steady-load.ts'

/** Everything that runs something: evaluators, code in the sandbox, whole evaluations; each run leaves a trace. */
export function runningLoad(client: SoakClient): SteadyTask[] {
  const invoke = (name: string, perSecond: number, references: object, data: object): SteadyTask => ({
    name,
    perSecond,
    work: async () => void (await client.send({ path: '/services/invoke', body: { references, data } })),
  })
  const judged = { inputs: { correct_answer: 'Oslo' }, outputs: 'Oslo' }
  return [
    invoke('evaluator', 8, { evaluator: { slug: 'exact' } }, judged),
    invoke('evaluator that fails', 1, { evaluator: { slug: 'exact' } }, { ...judged, outputs: 'Bergen' }),
    invoke('script', 2, { application: { slug: 'atlas' } }, { inputs: { country: 'Peru' } }),
    invoke('script in Python', 0.5, { evaluator: { slug: 'python-judge' } }, judged),
    {
      name: 'evaluation',
      perSecond: 1 / 15,
      work: async () => {
        await client.send({
          path: '/evaluations/run',
          body: {
            testset_ref: { slug: 'capitals' },
            application_ref: { slug: 'atlas' },
            evaluator_refs: [{ slug: 'exact' }, { slug: 'judge' }],
            concurrency: 2,
          },
        })
      },
    },
  ]
}
