import type { Credential, CredentialSource } from '../models/models.ts'
import { keyVariable } from '../models/model-providers.ts'
import type { ProjectSecrets } from '../secrets/project-secrets.ts'

/**
 * The credentials of a project (interface 11.19): its secret `<PROVIDER>_API_KEY` before what `environment` has for the provider,
 * and as connections the secrets that were set with a provider. A project's key without a base URL of its own is used where the
 * environment says that the provider is, so that a gateway which the operator chose is never gone around.
 */
export function projectCredentials(
  secrets: ProjectSecrets,
  environment: ReadonlyMap<string, Credential>,
): CredentialSource {
  return {
    ofProvider: async (provider) => {
      const configured = environment.get(provider)
      const own = await secrets.find(keyVariable(provider))
      if (!own) return configured
      if (own.baseUrl !== undefined) return { apiKey: own.value, baseUrl: own.baseUrl }
      return { ...configured, apiKey: own.value }
    },
    named: async (name) => {
      const secret = await secrets.find(name)
      if (secret?.provider === undefined) return undefined
      return { apiKey: secret.value, baseUrl: secret.baseUrl, provider: secret.provider }
    },
    names: async () => (await secrets.list()).filter((it) => it.provider !== undefined).map((it) => it.name),
  }
}
