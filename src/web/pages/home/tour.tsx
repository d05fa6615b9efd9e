import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { MessageSquareText, Route, Table2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { Failure } from '../../parts/states/states.tsx'
import { writeOurs } from '../../api/ours.ts'
import { useRoute, refetchShown, useWork } from '../../api/use-route.ts'
import { dropNewDraft, newDrafts } from '../../parts/drafts/new-drafts.ts'
import { useSession } from '../../shell/session.tsx'
import { places } from '../../shell/places.ts'
import styles from './home.module.css'
import { membersOf } from '../../api/json.ts'
import type { Evaluation } from '../../parts/evaluation/evaluation.tsx'
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
        message: 'Two examples: Norway and Peru',
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
        message: 'Three countries',
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

/** Runs the newest version of the prompt on the testset. Creates the evaluator if needed. */
async function startEvaluation(): Promise<void> {
  await writeOurs(() =>
    call('POST /simple/evaluators', {
      body: {
        evaluator: {
          slug: EVALUATOR,
          name: 'Exact capital',
          template: 'auto_exact_match',
          message: 'Compare with the column capital',
          data: { parameters: { correct_answer_key: 'capital' } },
        },
      },
    }),
  ).catch((error: unknown) => {
    if (!(error instanceof Problem && error.status === 409)) throw error
  })
  await call('POST /evaluations/run', {
    body: {
      application_ref: { slug: PROMPT },
      testset_ref: { slug: TESTSET },
      evaluator_refs: [{ slug: EVALUATOR }],
    },
  })
}

/** Saves a version whose examples have the missing capital, and evaluates it. */
async function addChad(): Promise<void> {
  const { workflow_revision: newest } = await call('POST /workflows/revisions/retrieve', {
    body: { workflow_ref: { slug: PROMPT } },
  })
  const messages = membersOf(membersOf(newest.data?.parameters)['prompt'])['messages']
  const before = Array.isArray(messages) ? (messages as readonly Readonly<Record<string, string>>[]) : []
  if (!before.some(({ content }) => content === 'Chad')) {
    const added = [
      ...before.slice(0, -1),
      { role: 'user', content: 'Chad' },
      { role: 'assistant', content: 'N’Djamena' },
      ...before.slice(-1),
    ]
    await writeOurs(() =>
      call('POST /workflows/revisions/commit', {
        body: {
          workflow_revision_commit: {
            workflow_variant_id: newest.variant_id,
            base_revision_id: newest.id,
            message: 'Add Chad as an example',
            delta: { set: { parameters: { prompt: { messages: added } } } },
          },
        },
      }),
    )
  }
  await startEvaluation()
}

/** Every step of the tour, with what it does. */
const DOES = [makePrompt, makeTestset, startEvaluation, addChad]

/** While an evaluation runs, it is looked at again after this many milliseconds. */
const LOOK_AGAIN = 500

/** The evaluations of the tour's prompt, the oldest first. */
function useEvaluations(applicationId: string | undefined) {
  const { data } = useRoute(
    'POST /evaluations/query',
    { body: { evaluation: { application_id: applicationId ?? '' }, windowing: { limit: 20 } } },
    {
      enabled: applicationId !== undefined,
      refetchInterval: (answer) => isAnyRunning(answer?.evaluations) && LOOK_AGAIN,
      keepPrevious: true,
    },
  )
  const evaluations = [...(data?.evaluations ?? [])].sort((one, other) =>
    one.created_at.localeCompare(other.created_at),
  )
  return { evaluations, isRunning: isAnyRunning(evaluations) }
}

function isAnyRunning(evaluations: readonly Evaluation[] = []): boolean {
  return evaluations.some(({ state }) => state === 'running')
}

/** Creates a prompt, a testset and an evaluation, improves the prompt and evaluates it again; a mock model needs no provider's key. */
export function Tour({ leave }: { readonly leave: () => void }) {
  const prompts = useRoute('POST /applications/query', { body: { application: { slugs: [PROMPT] } } })
  const testsets = useRoute('POST /testsets/query', { body: { testset: { slugs: [TESTSET] } } })
  const { evaluations, isRunning } = useEvaluations(prompts.data?.applications[0]?.id)
  const cache = useQueryClient()
  const { start, isBusy, error } = useWork()
  const [taken, setTaken] = useState<number>()
  const hasPrompt = (prompts.data?.count ?? 0) > 0
  const hasTestset = (testsets.data?.count ?? 0) > 0
  const [first, ...later] = evaluations
  const last = later.at(-1)
  const at = !hasPrompt ? 0 : !hasTestset ? 1 : !first ? 2 : !last ? 3 : 4

  async function take(step: number): Promise<void> {
    setTaken(step)
    await start(async () => {
      await writeOurs(DOES[step] ?? makePrompt)
      await refetchShown(cache)
    })
  }
  const done: readonly ReactNode[] = [
    <Link to={places.artifact(PROMPT)}>Open the prompt</Link>,
    <Link to={places.testset(TESTSET)}>Open the testset</Link>,
    first && <Link to={places.evaluation(first.id)}>{outcomeOf(first)}</Link>,
    last && <Link to={places.evaluation(last.id)}>{outcomeOf(last)}</Link>,
  ]
  return (
    <section className={styles.tour} aria-labelledby="tour">
      <h2 id="tour">A prompt that gets better, in four clicks</h2>
      <p>
        The model of this tour is a mock in the server, which answers like the examples in the prompt: no
        provider key is needed, and nothing is paid. You can archive everything afterwards.
      </p>
      {error !== undefined && <Failure error={error} />}
      <ol>
        {STEPS.map(({ title, text, button }, step) => (
          <li key={title} data-state={step < at ? 'done' : step === at ? 'here' : 'later'}>
            <h3>
              {step < at ? '✓ ' : `${step + 1}. `}
              {title}
            </h3>
            <p>{text}</p>
            {step < at ? (
              <span role="status">{done[step]}</span>
            ) : (
              <Button
                kind={step === at ? 'primary' : 'plain'}
                needs={step === 2 ? 'invoke' : 'write'}
                busy={isBusy && taken === step}
                refusal={
                  step > at
                    ? 'The step before comes first.'
                    : isRunning
                      ? 'The evaluation is still running.'
                      : undefined
                }
                onClick={() => void take(step)}
              >
                {button}
              </Button>
            )}
          </li>
        ))}
      </ol>
      {first && last && !isRunning && (
        <div className={styles.leadsOn} role="status">
          <p>
            <b>That is the whole loop:</b> change the prompt, evaluate it, see which version is better. Go on
            with:
          </p>
          <ul>
            <li>
              <Link to={places.compareEvaluations(first.id, last.id)}>Compare the two evaluations</Link>
            </li>
            <li>
              <Link to={places.edit(PROMPT, PROMPT)}>Edit the prompt yourself</Link>
            </li>
            <li>
              <Link to={places.environments()}>Deploy the better version</Link>
            </li>
            <li>
              <Link to="/" search={{ make: 'applications' }}>
                Write a prompt of your own
              </Link>
            </li>
          </ul>
        </div>
      )}
      <Button kind="quiet" onClick={leave}>
        Leave the tour
      </Button>
    </section>
  )
}

/** `2 of 3 rows passed`. */
function outcomeOf({ state, rows, summary }: Evaluation): string {
  if (state === 'running') return 'Running…'
  const [judge] = Object.values(summary.evaluators)
  return `${judge?.passed ?? 0} of ${rows} rows passed: see them`
}

const STEPS = [
  {
    title: 'A prompt',
    text: 'It names the capital of a country, and learns from two examples: Norway and Peru.',
    button: 'Make the prompt',
  },
  {
    title: 'A testset',
    text: 'Three countries with the capital that you expect: Norway, Peru and Chad.',
    button: 'Make the testset',
  },
  {
    title: 'An evaluation',
    text: 'Every row goes through the prompt, and an evaluator compares the answer with the expected one.',
    button: 'Run the evaluation',
  },
  {
    title: 'Add Chad, run again',
    text: 'The prompt does not know Chad. This saves a version with that example, and evaluates it.',
    button: 'Add Chad, run again',
  },
] as const

interface DoorsProps {
  readonly write: () => void
  readonly bring: () => void
  readonly takeTour: () => void
}

/** Three ways to begin, for a project with nothing in it. */
export function Doors({ write, bring, takeTour }: DoorsProps) {
  return (
    <section className={styles.doors} aria-label="Ways to begin">
      <div>
        <h2>
          <MessageSquareText size={18} aria-hidden /> Write a prompt
        </h2>
        <p>Start from a template, see it answer, and save it when you like it.</p>
        <Button kind="primary" needs="write" onClick={write}>
          Write a prompt
        </Button>
      </div>
      <div>
        <h2>
          <Table2 size={18} aria-hidden /> Bring a testset
        </h2>
        <p>A spreadsheet of questions and the answers you expect: CSV, Excel, JSON or JSONL.</p>
        <Button needs="write" onClick={bring}>
          Choose a file
        </Button>
      </div>
      <div>
        <h2>
          <Route size={18} aria-hidden /> Take the tour
        </h2>
        <p>Two minutes: a prompt, a testset and an evaluation. It needs no provider key.</p>
        <Button onClick={takeTour}>Take the tour</Button>
      </div>
    </section>
  )
}

/** What was begun in this browser and never saved on the server. */
export function NewDrafts() {
  const { project } = useSession()
  const cache = useQueryClient()
  const key = ['new drafts', project]
  const { data = [] } = useQuery({ queryKey: key, queryFn: () => newDrafts(project), networkMode: 'always' })
  if (data.length === 0) return null
  return (
    <section className={styles.drafts} aria-label="Not saved yet">
      <h2>Not saved yet</h2>
      <ul>
        {data.map((draft) => (
          <li key={draft.slug} className="row-wide">
            <Link to={places.edit(draft.slug, draft.slug)} dir="auto">
              {draft.name || draft.slug}
            </Link>
            <span>{draft.kind === 'evaluators' ? 'evaluator' : 'prompt'}, only in this browser</span>
            <Button
              kind="quiet"
              aria-label={`Discard ${draft.name || draft.slug}`}
              onClick={() =>
                void dropNewDraft(project, draft).then(() => cache.invalidateQueries({ queryKey: key }))
              }
            >
              Discard
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}
