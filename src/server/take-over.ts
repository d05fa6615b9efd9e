import type { Store } from '../git/store.ts'
import { documentsOf } from '../storage/documents/file-documents.ts'
import type { Projects } from './compose-projects.ts'
import type { WorkflowRuntime } from './workflow-runtime.ts'

/** How often it is looked for work of servers that died, in milliseconds. */
const LOOK_EVERY = 5000

/** What a server goes on with when another one dies. */
export interface TakingOver {
  readonly store: Store
  readonly projects: Projects
  readonly runtime: WorkflowRuntime
  readonly onTrouble: (error: unknown) => void
}

/**
 * Goes on with evaluations whose servers died or were stopped, where servers with folders of their own share the store; the answer ends that. Servers of
 * one host leave that to whoever asks for it.
 */
export function keepTakingOver(parts: TakingOver): () => void {
  if (!parts.store.fs.documents) return () => undefined
  const look = (): void => void takeOver(parts).catch(parts.onTrouble)
  const timer = setInterval(look, LOOK_EVERY).unref()
  return () => clearInterval(timer)
}

/** Resolves once what was left is begun. */
export async function takeOver({ store, projects, runtime, onTrouble }: TakingOver): Promise<void> {
  for (const lease of await documentsOf(store.fs).abandoned()) {
    const [project = '', folder] = lease.path.slice(store.dir.length + 1).split('/')
    if (folder !== 'evaluations') continue
    const registry = await projects.registries.of(project)
    // It may take hours.
    void runtime.evaluationsOf(registry).takeOver(lease).catch(onTrouble)
  }
}
