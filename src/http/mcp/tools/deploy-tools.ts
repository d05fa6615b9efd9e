import { z } from 'zod'
import { Refusal } from '../../../errors.ts'
import { getKey, getPath, type Json, type JsonObject, type PlainObject } from '../../../base/json.ts'
import type { Rest } from '../rest.ts'
import { given } from '../short-record.ts'
import { fields, listIn, NAMED, references, retrieve, SLUG, type Tool, tool, written } from './tool.ts'

/** The tools that change what an environment runs. */
export const deployTools: readonly Tool[] = [
  tool({
    name: 'prompts_deploy',
    group: 'deploy',
    effect: 'replaces',
    title: 'Deploy a version',
    description:
      'Deploys a version of a prompt to an environment, whose clients get it from the next request on. Without version and variant: the ' +
      'latest of the default variant.',
    input: z.strictObject({
      ...NAMED,
      environment: SLUG.describe('The environment that is deployed to'),
      message: z.string().max(10_000).optional().describe('Why, for the log of the environment'),
    }),
    run: async ({ environment, message, fields, ...which }, rest) =>
      deploy(rest, given({ ...references('application', which), message }), environment, fields),
  }),
  tool({
    name: 'prompts_rollback',
    group: 'deploy',
    effect: 'replaces',
    title: 'Roll back',
    description:
      'Deploys again the version of a prompt that the environment ran before the present one; a second time, the one before that.',
    input: z.strictObject({
      name: NAMED.name,
      environment: SLUG.describe('The environment that is rolled back'),
      message: z.string().max(10_000).optional().describe('Why, for the log of the environment'),
      fields,
    }),
    run: async ({ name, environment, message, fields }, rest) => {
      const { variant, version } = await versionBefore(rest, name, environment)
      const of = references('application', { name, variant, version })
      const why = message ?? `Roll ${name} back to v${version}`
      return deploy(rest, { ...of, message: why }, environment, fields)
    },
  }),
]

async function deploy(
  rest: Rest,
  body: PlainObject,
  environment: string,
  fields: readonly string[] | undefined,
): Promise<JsonObject> {
  const asked = { ...body, environment_ref: { slug: environment } }
  return written(await rest.post('/applications/revisions/deploy', asked), 'application_revision', fields)
}

/** How many moves of an environment are searched, in pages. */
const MOVES_A_PAGE = 100
const MOST_PAGES = 20

/**
 * What the environment ran before it ran the present version for the first time, so that a second rollback goes one further back. Refuses
 * if there is nothing.
 */
async function versionBefore(
  rest: Rest,
  name: string,
  environment: string,
): Promise<{ readonly variant: string; readonly version: number }> {
  const present = getKey(await retrieve(rest, 'application', { name, environment }), 'slug')
  let before: Json | undefined
  let next: Json | undefined
  for (let page = 0; page < MOST_PAGES && (page === 0 || next !== undefined); page++) {
    const windowing = given({ limit: MOVES_A_PAGE, next })
    const answer = await rest.post('/deployments/log', { environment_ref: { slug: environment }, windowing })
    for (const move of listIn(answer, 'entries').flatMap((entry) => listIn(entry, 'moved')))
      if (getPath(move, 'key') === `${name}.revision` && getPath(move, 'to', 'revision') === present)
        before = getPath(move, 'from')
    next = getPath(answer, 'windowing', 'next')
  }
  const [variant, version] = [getPath(before, 'variant'), getPath(before, 'version')]
  if (typeof variant === 'string' && version !== undefined) return { variant, version: Number(version) }
  throw new Refusal(
    'invalid_request',
    `${environment} ran no other version of ${name} before the present one. Name a version: prompts_deploy.`,
  )
}
