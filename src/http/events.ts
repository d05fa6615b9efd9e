export { OpenEvents } from './events/open-events.ts'
