import type { Fs } from '../storage/fs.ts'
import { ProjectSecrets } from './project-secrets.ts'
import type { SecretsKey } from './secrets-key.ts'

/** The secrets of a store, project by project. */
export interface Secrets {
  of(project: string): ProjectSecrets
}

/**
 * Opens the secrets of a store (interface 7.8): credentials that handlers need and that no repository, answer, log or trace may hold.
 * They are encrypted with `configured` (SECRETS_KEY); without it, with a key of the store's own, made when the first secret is set.
 * Nothing is read before a secret is asked for. What another process changes is seen by the next call.
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
