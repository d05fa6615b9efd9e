import { z } from 'zod'
import type { JsonObject } from '../../../../src/base/json/json.ts'
import { promptData } from '../../../bench/fill-store.ts'
import type { SoakClient } from './soak-client.ts'

/** An artifact that the load works on. */
export interface SoakArtifact {
  readonly id: string
  readonly slug: string
  readonly variantId: string
}

/** What the load works on, which is made before it begins. */
export interface Population {
  /** Prompts of two or more versions, all deployed to production. */
  readonly bots: readonly SoakArtifact[]
  /** Each of a few hundred rows. */
  readonly testsets: readonly SoakArtifact[]
  /** Workflows that nobody minds if they are archived. */
  readonly hideable: readonly SoakArtifact[]
  /** An application in JavaScript, which is evaluated with the testset `capitals`. */
  readonly atlas: SoakArtifact
}

const BOTS = 24
const TESTSETS = 4
const HIDEABLE = 4

/** Makes artifacts of every kind; further ones are called by slug: `greeter`, `tone`, `exact`, `judge`, `python-judge`, `pushed`, `failures`. */
export async function populate(client: SoakClient): Promise<Population> {
  const make = async (singular: string, record: object): Promise<SoakArtifact> => {
    const path = singular === 'query' ? '/simple/queries/' : `/simple/${singular}s/`
    const { text } = await client.send({ path, body: { [singular]: record } })
    const { id, slug, variant_id } = made.parse(answer.parse(JSON.parse(text))[singular])
    return { id, slug, variantId: variant_id }
  }
  const bots: SoakArtifact[] = []
  for (let number = 0; number < BOTS; number++) {
    const tags = { team: number % 4 === 0 ? 'support' : 'sales' }
    const bot = await make('application', { slug: `bot-${number}`, tags, data: promptData(number) })
    await client.send(commitTo(bot, promptData(number + BOTS)))
    await client.send(deploymentOf(bot, 2))
    bots.push(bot)
  }
  const testsets: SoakArtifact[] = []
  for (let number = 0; number < TESTSETS; number++) {
    testsets.push(await make('testset', { slug: `rows-${number}`, data: { testcases: someRows(300) } }))
  }
  const hideable: SoakArtifact[] = []
  for (let number = 0; number < HIDEABLE; number++) {
    hideable.push(await make('workflow', { slug: `hideable-${number}`, data: { parameters: { number } } }))
  }
  await make('testset', { slug: 'capitals', data: { testcases: CAPITALS } })
  await make('workflow', { slug: 'pushed', data: { parameters: { value: '' } } })
  await make('workflow', {
    slug: 'tone',
    flags: { is_snippet: true },
    data: { parameters: { voice: 'calm' } },
  })
  await make('application', {
    slug: 'greeter',
    data: { parameters: { system: 'Be @{{workflow.slug=tone, path=voice}}.' } },
  })
  await make('evaluator', { slug: 'exact', data: { uri: 'svc:builtin:auto_exact_match:v0', parameters: {} } })
  await make('evaluator', { slug: 'judge', data: script('javascript', JUDGE) })
  await make('evaluator', { slug: 'python-judge', data: script('python', PYTHON_JUDGE) })
  await make('query', { slug: 'failures', data: { filtering: FAILURES, windowing: { limit: 10 } } })
  const atlas = await make('application', { slug: 'atlas', data: atlasData(1) })
  return { bots, testsets, hideable, atlas }
}

/** A commit to the artifact's default variant. */
export function commitTo({ variantId }: SoakArtifact, data: object) {
  const commit = { application_variant_id: variantId, message: 'Soak', data }
  return { path: '/applications/revisions/commit', body: { application_revision_commit: commit } }
}

/** A deployment to production. */
export function deploymentOf({ slug }: SoakArtifact, version: number) {
  const body = { application_revision_ref: { slug, version }, environment_ref: { slug: 'production' } }
  return { path: '/applications/revisions/deploy', body }
}

/** So many rows that are no others. */
export function someRows(count: number): readonly { readonly data: JsonObject }[] {
  const stamp = Math.random().toString(36).slice(2)
  return Array.from({ length: count }, (_, number) => ({
    data: { question: `What is ${number} plus one, ${stamp}?`, correct_answer: String(number + 1) },
  }))
}

/** An application that knows capitals; every number makes another revision of it. */
export function atlasData(number: number): object {
  return { ...script('javascript', ATLAS), parameters: { version: '3', number } }
}

function script(runtime: string, text: string): object {
  return { uri: 'svc:custom:code:v0', runtime, script: text }
}

const ATLAS = `const capitals = {Norway: 'Oslo', Peru: 'Lima', Chad: 'N’Djamena'}
export function evaluate({country}) { return capitals[country] ?? 'unknown' }
`
const JUDGE = 'function evaluate(inputs, outputs) { return outputs === inputs.correct_answer ? 1 : 0 }\n'
const PYTHON_JUDGE = `def evaluate(inputs, outputs, trace):
    return 1.0 if outputs == inputs["correct_answer"] else 0.0
`

const CAPITALS = Array.from({ length: 20 }, (_, number) => ({
  data: { country: ['Norway', 'Peru', 'Chad', 'Laos'][number % 4], correct_answer: 'Oslo', number },
}))

const FAILURES = { conditions: [{ field: 'attributes', key: 'svc.data.outputs.success', value: false }] }

const answer = z.record(z.string(), z.unknown())
const made = z.object({ id: z.string(), slug: z.string(), variant_id: z.string() })
