import type { Fs } from '../../storage/files.ts'
import { ProjectSecrets } from './project-secrets.ts'
import type { SecretsKey } from './secrets-key.ts'

export interface Secrets {
  of(project: string): ProjectSecrets
}

/**
 * Opens the secrets of a store (interface 7.8): credentials for handlers that no repository, answer, log or trace may contain. They are
 * encrypted with `configured` (SECRETS_KEY), or else with a key of the store, created with the first secret. Nothing is read before the first
 * use. Changes of other processes are seen by the next call.
 */
export function openSecrets(fs: Fs, storeDir: string, configured: SecretsKey | undefined): Secrets {
  const opened = new Map<string, ProjectSecrets>()
  return {
    of: (project) => {
      const known = opened.get(project)
      if (known) return known
      const secrets = new ProjectSecrets(fs, storeDir, project, configured)
      opened.set(project, secrets)
      return secrets
    },
  }
}
