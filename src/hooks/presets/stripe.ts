// Stripe: events about payments. One conversation an object that the event is about.
import type { Preset } from "./preset.ts"

const of = '{{data.object.customer | before(", customer ")}}'
const mode = "live: {{livemode}}"

export const stripe: Preset = {
  name: "stripe",
  scheme: "stripe",
  title: "Stripe {{type}}",
  sessionKey: "hook:stripe:{{data.object.id | default(id)}}",
  event: "{{type}}",
  idFrom: "payload.id",
  texts: {
    "payment_intent.succeeded": `Payment {{data.object.id}} of {{data.object.amount}} {{data.object.currency}} (smallest units) succeeded${of}; ${mode}`,
    "payment_intent.payment_failed": `Payment {{data.object.id}} of {{data.object.amount}} {{data.object.currency}} (smallest units) failed${of}: {{data.object.last_payment_error.message}}; ${mode}`,
    "checkout.session.completed": `Checkout {{data.object.id}} completed: {{data.object.amount_total}} {{data.object.currency}} (smallest units), {{data.object.payment_status}}${of}; ${mode}`,
    "invoice.paid": `Invoice {{data.object.number | default(data.object.id)}} of {{data.object.amount_paid}} {{data.object.currency}} (smallest units) was paid${of}; ${mode}`,
    "invoice.payment_failed": `Payment of invoice {{data.object.number | default(data.object.id)}} of {{data.object.amount_due}} {{data.object.currency}} (smallest units) failed${of}, attempt {{data.object.attempt_count}}\n{{data.object.hosted_invoice_url}}\n${mode}`,
    "customer.subscription.created": `Subscription {{data.object.id}} created${of}: {{data.object.status}}; ${mode}`,
    "customer.subscription.updated": `Subscription {{data.object.id}} changed${of}: {{data.object.status}}\nBefore: {{data.previous_attributes | json | truncate(1000)}}\n${mode}`,
    "customer.subscription.deleted": `Subscription {{data.object.id}} ended${of}; ${mode}`,
    "charge.refunded": `Charge {{data.object.id}}: {{data.object.amount_refunded}} of {{data.object.amount}} {{data.object.currency}} (smallest units) refunded${of}; ${mode}`,
    "charge.dispute.created": `Dispute {{data.object.id}} over {{data.object.amount}} {{data.object.currency}} (smallest units): {{data.object.reason}}, charge {{data.object.charge}}; ${mode}`,
    "payout.failed": `Payout {{data.object.id}} of {{data.object.amount}} {{data.object.currency}} (smallest units) failed: {{data.object.failure_message}}; ${mode}`,
  },
  otherwise: `Stripe event {{type}} ({{id}}) about {{data.object.object}} {{data.object.id}}${of}; ${mode}\n\n{{data.object | json | truncate(4000)}}`,
}
