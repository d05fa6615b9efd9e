export { curlyTags } from './templates/curly-tags.ts'
