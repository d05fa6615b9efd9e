export { deployRevision } from './environments/deploy-revision.ts'
export { environmentVariant } from './environments/environments.ts'
export { type LoggedDeployment, logDeployments } from './environments/log-deployments.ts'
export { pinWarnings } from './environments/pin-warnings.ts'
export { referencesTo } from './environments/pin.ts'
export {
  type CurrentDeployment,
  artifactsDeployedTo,
  deployedCommits,
  queryDeployments,
} from './environments/query-deployments.ts'
