import { z } from 'zod'
import { principalOf } from '../../access/keys.ts'
import { Refusal } from '../../errors.ts'
import type { ProjectSecrets, SecretRecord } from '../../access/secrets.ts'
import type { Registry } from '../../registry/registries.ts'
import { type EndpointResponse, type Endpoint, endpoint } from '../routing/endpoint.ts'
import { envelope } from '../schemas/spellings.ts'
import { keyTest, secretRecord, secretValue } from '../schemas/key.ts'
import { list, single } from '../schemas/record-schemas.ts'

/** Where secrets are, and who tests them. */
export interface SecretPlace {
  secretsOf(registry: Registry): ProjectSecrets
  /** Whether the provider accepts the secret. Undefined if the secret does not belong to a provider. */
  testSecret(
    registry: Registry,
    secret: SecretRecord,
    signal: AbortSignal,
  ): Promise<z.infer<typeof keyTest> | undefined>
}

/** The secrets of the project by name (interface 14.3). No answer contains a value. */
export function secretEndpoints({ secretsOf, testSecret }: SecretPlace): Endpoint[] {
  const tag = 'secrets'
  const output = single('secret', secretRecord)
  const params = z.object({ name: z.string() })
  const answer = (record: SecretRecord): EndpointResponse => ({ body: { count: 1, secret: present(record) } })
  return [
    endpoint({
      method: 'GET',
      path: '/secrets',
      tag,
      summary: 'List the secrets of the project, without their values',
      scope: 'admin',
      output: list('secrets', secretRecord),
      run: async ({ registry }) => {
        const secrets = (await secretsOf(registry).list()).map(present)
        return { body: { count: secrets.length, secrets } }
      },
    }),
    endpoint({
      method: 'PUT',
      path: '/secrets/:name',
      tag,
      summary: 'Set or replace a secret; handlers see the value with their next run, and no answer ever does',
      scope: 'admin',
      params,
      input: envelope({ secret: { names: ['secret'], schema: secretValue, required: true } }),
      output,
      example: { secret: { value: 'sk-…', provider: 'openai' } },
      run: async ({ registry, params: path, caller, input: { secret } }) => {
        const { value, provider, base_url: baseUrl } = secret
        const by = principalOf(caller.key).id
        return answer(await secretsOf(registry).set(path['name'] ?? '', value, { provider, baseUrl }, by))
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/secrets/:name',
      tag,
      summary: 'Remove a secret; what names it fails from the next run on',
      scope: 'admin',
      params,
      output,
      run: async ({ registry, params: path, caller }) => {
        const secrets = secretsOf(registry)
        const record = await recordOf(secrets, path['name'])
        if (await secrets.remove(record.name, principalOf(caller.key).id)) return answer(record)
        throw noSuchSecret(record.name, await secrets.list())
      },
    }),
    endpoint({
      method: 'POST',
      path: '/secrets/:name/test',
      tag,
      summary:
        'Ask the provider whose key a secret is for its models, to see whether it takes the key; nothing is stored',
      scope: 'admin',
      params,
      optionalBody: true,
      input: z.strictObject({}),
      output: single('test', keyTest),
      example: {},
      run: async ({ registry, params: path, untilGone }) => {
        const record = await recordOf(secretsOf(registry), path['name'])
        const test = await testSecret(registry, record, untilGone())
        if (test) return { body: { count: 1, test } }
        throw new Refusal(
          'no_provider',
          `The secret ${record.name} is no provider's key, so nobody can be asked about it. Set it with "provider", or under a name such as OPENAI_API_KEY.`,
        )
      },
    }),
  ]
}

async function recordOf(secrets: ProjectSecrets, name = ''): Promise<SecretRecord> {
  const all = await secrets.list()
  const record = all.find((it) => it.name === name)
  if (record) return record
  throw noSuchSecret(name, all)
}

function noSuchSecret(name: string, all: readonly SecretRecord[]): Refusal {
  const names = all.map((it) => it.name)
  const known = names.length === 0 ? 'It has none.' : `Its secrets are ${names.join(', ')}.`
  return new Refusal('secret_not_found', `The project has no secret ${JSON.stringify(name)}. ${known}`)
}

function present({ name, provider, baseUrl, createdAt, updatedAt }: SecretRecord): object {
  return {
    name,
    ...(provider === undefined ? {} : { provider }),
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
    created_at: createdAt,
    updated_at: updatedAt,
  }
}
