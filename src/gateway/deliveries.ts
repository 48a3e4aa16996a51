// The routes of `/api/deliveries`: what was sent to chats, sending it again, and setting a failure aside.
import { dismissDelivery } from "./delivery-rows.ts"
import { deliveryEndpoints } from "./endpoints/deliveries.ts"
import { routesOf } from "./endpoint-routes.ts"
import type { Route } from "./route.ts"
import { listDeliveries, readDelivery, retryDelivery } from "./store.ts"

export const deliveryRoutes: readonly Route[] = routesOf(deliveryEndpoints, {
  "GET /api/deliveries": async ({ store }, { query }) => ({ body: await listDeliveries(store, query) }),
  "GET /api/deliveries/:id": async ({ store }, { params }) => ({ body: await readDelivery(store, params.id) }),
  "POST /api/deliveries/:id/retry": async ({ store }, { params }) => ({
    status: 202,
    body: { id: await retryDelivery(store, params.id) },
  }),
  async "POST /api/deliveries/:id/dismiss"({ store }, { params }) {
    await dismissDelivery(store, params.id)
    return { body: {} }
  },
})
