import type { ArtifactView } from '../versioning/artifacts/artifact-view.ts'
import type { ProjectWebhooks } from './project-webhooks.ts'
import { ToldLog } from './told-log.ts'

/** Notes that everything there is now is told, unless there are such notes already: a project's first webhook begins here. */
export async function beginToldLog({ registry, fs, folder, settings }: ProjectWebhooks): Promise<void> {
  if (ToldLog.exists(fs, folder)) return
  const views: ArtifactView[] = []
  for (const family of registry.families) views.push(...(await registry.index.list(family)))
  await ToldLog.begin(fs, folder, views, settings.now())
}
