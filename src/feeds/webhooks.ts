export { cursorOf } from './webhooks/cursor-log.ts'
export { type Delivery, delivery } from './webhooks/deliveries/delivery-store.ts'
export { creationOf, eventsBetween } from './webhooks/events-between.ts'
export { OpenWebhooks } from './webhooks/open-webhooks.ts'
export { noWebhooks, type ProjectWebhooks } from './webhooks/project-webhooks.ts'
export { type RegistryEvent, namesArtifact } from './webhooks/registry-event.ts'
export {
  archiveWebhook,
  createWebhook,
  editWebhook,
  findDelivery,
  redeliver,
  rotateSecret,
  testWebhook,
} from './webhooks/webhook-actions.ts'
export { EVENT_TYPES, type Webhook, webhook } from './webhooks/webhook.ts'
