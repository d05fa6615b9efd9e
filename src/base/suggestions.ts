export { type Help, HelpfulRefusal } from './suggestions/helpful-refusal.ts'
export { nearNames } from './suggestions/near-names.ts'
export { nearestName } from './suggestions/nearest-name.ts'
