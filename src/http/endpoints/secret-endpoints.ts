import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import type { ProjectSecrets, SecretRecord } from '../../access/secrets.ts'
import type { Registry } from '../../registry/registries.ts'
import { type EndpointResponse, type Endpoint, endpoint } from '../routing/endpoint.ts'
import { envelope } from '../schemas/spellings.ts'
import { secretRecord, secretValue } from '../schemas/key.ts'
import { list, single } from '../schemas/record-schemas.ts'

/** The secrets of the project by name (interface 14.3). No answer contains a value. */
export function secretEndpoints(secretsOf: (registry: Registry) => ProjectSecrets): Endpoint[] {
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
      run: async ({ registry, params: path, input: { secret } }) => {
        const { value, provider, base_url: baseUrl } = secret
        return answer(await secretsOf(registry).set(path['name'] ?? '', value, { provider, baseUrl }))
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
      run: async ({ registry, params: path }) => {
        const secrets = secretsOf(registry)
        const all = await secrets.list()
        const record = all.find(({ name }) => name === path['name'])
        if (record && (await secrets.remove(record.name))) return answer(record)
        throw noSuchSecret(path['name'] ?? '', all)
      },
    }),
  ]
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
