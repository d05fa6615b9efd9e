import type { JsonObject } from '../../../src/base/json/json.ts'
import { z } from 'zod'
import type { TurnAnswer, TurnClient } from './turn-client.ts'

/** An artifact that requests are about. */
export interface Subject {
  readonly slug: string
  readonly id: string
  readonly variantId: string
  readonly revisionId: string
}

/** The surfaces that are asked; applications and evaluators are answered by the code of workflows. */
export const SURFACES = ['workflows', 'testsets', 'environments', 'queries'] as const

/** Makes what the document's examples speak of; answers the subject of each surface. */
export async function makeSubjects(client: TurnClient): Promise<ReadonlyMap<string, Subject>> {
  const subjects = new Map<string, Subject>()
  const small = { parameters: { x: 1, prompt: { messages: [{ role: 'system', content: 'Be brief.' }] } } }
  const rows = { testcases: [{ data: { country: 'Norway', capital: 'Oslo' } }] }
  const made: readonly (readonly [string, string, JsonObject])[] = [
    ['workflows', 'tone', small],
    ['workflows', 'support-bot', small],
    ['evaluators', 'exact', { uri: 'svc:builtin:auto_exact_match:v0' }],
    ['testsets', 'capitals', rows],
    ['testsets', 'support-bot', rows],
    ['environments', 'support-bot', { references: {} }],
    ['queries', 'support-bot', { filtering: { conditions: [] } }],
  ]
  for (const [surface, slug, data] of made) {
    const path = `/simple/${surface}`
    const body = JSON.stringify({ [singular(surface)]: { slug, data } })
    const answer = await client.send({ method: 'POST', route: path, path, shape: 'seed', body })
    const subject = subjectOf(answer, surface)
    if (!subject) throw new Error(`${path}: ${answer.status} ${answer.text.slice(0, 500)}`)
    subjects.set(surface, subject)
    if (surface === 'evaluators') continue
    for (const message of ['two', 'three']) {
      const commit = { [`${singular(surface)}_variant_id`]: subject.variantId, message, data }
      await client.send({
        method: 'POST',
        route: path,
        path: `/${surface}/revisions/commit`,
        shape: 'seed',
        body: JSON.stringify({ [`${singular(surface)}_revision_commit`]: commit }),
      })
    }
  }
  return subjects
}

/** What a simple create or an upload made, if it did; only their answers name a variant and a revision. */
export function subjectOf({ status, text }: TurnAnswer, surface: string): Subject | undefined {
  if (status !== 200) return undefined
  if (!text.startsWith('{')) return undefined // a download
  const envelope = JSON.parse(text) as Readonly<Record<string, unknown>>
  const found = made.safeParse(envelope[singular(surface)])
  if (!found.success) return undefined
  const { id, slug, variant_id: variantId, revision_id: revisionId } = found.data
  return { id, slug, variantId, revisionId }
}

const made = z.object({ id: z.string(), slug: z.string(), variant_id: z.string(), revision_id: z.string() })

export function singular(surface: string): string {
  return surface === 'queries' ? 'query' : surface.slice(0, -1)
}
