export { gitSmartHttp } from './git/git-smart-http.ts'
export { restoreBundle } from './git/restore-bundle.ts'
