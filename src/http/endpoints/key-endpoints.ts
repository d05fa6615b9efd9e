import { basename } from 'node:path/posix'
import {
  createApiKey,
  listApiKeys,
  principalOf,
  revokeApiKey,
  type ApiKey,
  type KeyUses,
} from '../../access/keys.ts'
import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'
import { holdsText } from '../../registry/artifacts.ts'
import { cutWindow, type Registry } from '../../registry/registries.ts'
import { type EndpointResponse, type Endpoint, endpoint } from '../routing/endpoint.ts'
import { respondWithList } from '../routing/send.ts'
import { envelope } from '../schemas/spellings.ts'
import { keyFilter, keyRecord, newKey } from '../schemas/key.ts'
import { queryFilters } from '../schemas/queries/query-parameters.ts'
import { list, single } from '../schemas/record-schemas.ts'
import { windowing } from '../schemas/request-schemas.ts'

/** Where keys are stored. */
export interface KeyPlace {
  readonly fs: Fs
  readonly storeDir: string
  readonly uses: KeyUses
  /** Whether there is an admin key (SVC_API_KEY), which is not stored here. */
  readonly hasAdminKey: boolean
  readonly now: () => Date
}

/** The API keys of the project (interface 14.1). */
export function keyEndpoints({ fs, storeDir, uses, hasAdminKey, now }: KeyPlace): Endpoint[] {
  const tag = 'keys'
  const output = single('key', keyRecord)
  const projectOf = ({ store }: Registry): string => basename(store.folder)
  const keysOf = (registry: Registry): readonly ApiKey[] => listApiKeys(fs, storeDir, projectOf(registry))
  const answer = (registry: Registry, key: ApiKey, secret?: string): EndpointResponse => ({
    body: {
      count: 1,
      key: { ...presentKey(key, uses.of(projectOf(registry))), ...(secret === undefined ? {} : { secret }) },
    },
    address: { id: key.id },
  })
  const query = (method: 'GET' | 'POST', path: string): Endpoint =>
    endpoint({
      method,
      path,
      tag,
      summary: 'List the API keys of the project, revoked ones too, without what is secret',
      scope: 'admin',
      optionalBody: true,
      input: envelope({
        filter: { names: ['key'], schema: keyFilter },
        windowing: { names: ['windowing'], schema: windowing },
      }),
      fromQuery: queryFilters(['key'], []),
      output: list('keys', keyRecord),
      ...(method === 'POST' ? { example: { key: { name: 'ci' } } } : {}),
      run: async ({ registry, input: { filter = {}, windowing: asked } }) => {
        const rows = keysOf(registry).map((value) => ({ id: value.id, createdAt: value.created_at, value }))
        const window = await cutWindow(
          rows,
          asked,
          (key) =>
            holdsText(key.name, filter.name) &&
            (filter.scopes ?? []).every((scope) => key.scopes.includes(scope)),
        )
        const lastUses = uses.of(projectOf(registry))
        return respondWithList(
          'keys',
          window,
          asked,
          window.rows.map((key) => presentKey(key, lastUses)),
        )
      },
    })

  return [
    endpoint({
      method: 'POST',
      path: '/keys',
      tag,
      summary:
        'Make an API key of the project, for good or until a time; the answer shows it once, as "secret"',
      scope: 'admin',
      input: envelope({ key: { names: ['key'], schema: newKey, required: true } }),
      output,
      example: { key: { name: 'ci', scopes: ['read', 'write'] } },
      run: async ({ registry, input, caller, context: { artifactId, attemptedAt } }) => {
        const earlier = attemptedAt && keysOf(registry).find(({ id }) => id === artifactId)
        if (earlier) return answer(registry, earlier)
        const { expires_at: expiresAt, ...key } = input.key
        const by = principalOf(caller.key).id
        const wanted = { ...key, expiresAt, project: projectOf(registry), id: artifactId, by }
        const made = await createApiKey(fs, storeDir, wanted, now())
        return answer(registry, made.key, made.token)
      },
      // Secrets are not stored, so only the first answer contains one.
      recall: async ({ registry }, { id }) => answer(registry, keyNamed(keysOf(registry), id)),
    }),
    query('GET', '/keys'),
    query('POST', '/keys/query'),
    endpoint({
      method: 'DELETE',
      path: '/keys/:id',
      tag,
      summary: 'Revoke an API key: requests with it are refused from the next one on',
      scope: 'admin',
      output,
      run: async ({ registry, params, caller }) => {
        const { id } = keyNamed(keysOf(registry), params['id'] ?? '')
        const revoked = await revokeApiKey(
          fs,
          storeDir,
          projectOf(registry),
          { id },
          { mayLeaveNone: hasAdminKey, by: principalOf(caller.key).id },
        )
        return answer(registry, revoked)
      },
    }),
  ]
}

function keyNamed(keys: readonly ApiKey[], id: string): ApiKey {
  const key = keys.find((it) => it.id === id)
  if (key) return key
  throw new Refusal(
    'key_not_found',
    `There is no API key with the id ${id} in this project. GET /keys lists them.`,
  )
}

/** A key as answers show it. */
export function presentKey(
  { id, name, email, scopes, folders, ...key }: ApiKey,
  lastUses: ReadonlyMap<string, string>,
): object {
  return {
    id,
    name,
    email,
    scopes,
    folders,
    created_at: key.created_at,
    last_used_at: lastUses.get(id) ?? null,
    ...(key.expires_at === undefined ? {} : { expires_at: key.expires_at }),
    revoked_at: key.revoked_at ?? null,
  }
}
