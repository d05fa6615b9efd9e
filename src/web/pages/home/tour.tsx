import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { Failure } from '../../parts/states/states.tsx'
import { writeOurs } from '../../api/ours.ts'
import { useRoute } from '../../api/use-route.ts'
import { places } from '../../shell/places.ts'
import styles from './home.module.css'
import { call, Problem } from '../../api/call.ts'

/** The slugs of the items that the tour creates. */
const PROMPT = 'capitals'
const TESTSET = 'capital-cities'
const EVALUATOR = 'exact-capital'

/** The examples contain two of the testset's three capitals. */
function makePrompt(): Promise<unknown> {
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

function makeTestset(): Promise<unknown> {
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

/** Runs the prompt on the testset and returns the evaluation's id. Creates the evaluator if needed. */
async function startEvaluation(): Promise<string> {
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

/** Creates a prompt, a testset and an evaluation in three clicks, with a mock model, so that no provider's key is needed. */
export function Tour({ leave }: { readonly leave: () => void }) {
  const prompts = useRoute('POST /applications/query', { body: { application: { slugs: [PROMPT] } } })
  const testsets = useRoute('POST /testsets/query', { body: { testset: { slugs: [TESTSET] } } })
  const navigate = useNavigate()
  const cache = useQueryClient()
  const [busy, setBusy] = useState<number>()
  const [error, setError] = useState<unknown>()
  const hasPrompt = (prompts.data?.count ?? 0) > 0
  const hasTestset = (testsets.data?.count ?? 0) > 0
  const at = hasPrompt ? (hasTestset ? 2 : 1) : 0

  async function take(step: number): Promise<void> {
    setBusy(step)
    setError(undefined)
    try {
      // Creating the first artifact would end the tour, unless the address asks for it.
      await navigate({ to: '/', search: { tour: '1' }, replace: true })
      if (step === 0) await writeOurs(makePrompt)
      if (step === 1) await writeOurs(makeTestset)
      if (step === 2) await navigate({ to: places.evaluation(await startEvaluation()) })
      await cache.invalidateQueries()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(undefined)
    }
  }

  return (
    <section className={styles.tour} aria-labelledby="tour">
      <h2 id="tour">From nothing to an evaluation, in three clicks</h2>
      <p>
        The model of this tour is a mock that runs in the server: it answers as the examples in the prompt do.
        Everything it makes is an ordinary git repository, and can be deleted again.
      </p>
      {error !== undefined && <Failure error={error} />}
      <ol>
        {STEPS.map(({ title, text, button, done }, step) => (
          <li key={title} data-state={step < at ? 'done' : step === at ? 'here' : 'later'}>
            <h3>
              {step < at ? '✓ ' : `${step + 1}. `}
              {title}
            </h3>
            <p>{text}</p>
            {step < at && done !== undefined ? (
              <Link to={done.to}>{done.label}</Link>
            ) : (
              <Button
                kind={step === at ? 'primary' : 'plain'}
                needs={step === 2 ? 'invoke' : 'write'}
                busy={busy === step}
                refusal={step > at ? 'The step before comes first.' : undefined}
                onClick={() => void take(step)}
              >
                {button}
              </Button>
            )}
          </li>
        ))}
      </ol>
      <p>
        Then open the prompt, add Chad and its capital as an example, commit, and run the evaluation again:
        the version that knows more passes more rows.{' '}
        <Button kind="quiet" onClick={leave}>
          Leave the tour
        </Button>
      </p>
    </section>
  )
}

const STEPS = [
  {
    title: 'A prompt',
    text: 'Messages, a model and its parameters. Its first version is a commit on the branch capitals.',
    button: 'Make the prompt',
    done: { label: 'Open the prompt', to: places.artifact(PROMPT) },
  },
  {
    title: 'A testset',
    text: 'Three countries with the capital that is expected. Each row is a file that git tracks.',
    button: 'Make the testset',
    done: { label: 'Open the testset', to: places.testset(TESTSET) },
  },
  {
    title: 'An evaluation',
    text: 'Every row goes through the prompt, and an evaluator compares what comes out with what is expected.',
    button: 'Run the evaluation',
    done: undefined,
  },
] as const
