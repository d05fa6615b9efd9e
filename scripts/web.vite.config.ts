import { mergeConfig } from 'vite'
import web from '../src/web/vite.config.ts'
import { listModules } from './notices/list-modules.ts'

/** The page as the build makes it: with a list of the modules of packages that it holds. */
export default mergeConfig(web, { plugins: [listModules('web')] })
