export { type Maintained, maintain } from './maintenance/maintain.ts'
export { startMaintenance } from './maintenance/schedule.ts'
export { isAboutGitCacheFile, removeGitCacheFiles, staleFiles } from './maintenance/stale-files.ts'
